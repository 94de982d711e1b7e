// The decision view: a panel with the page of `model/decisionPage`, without scripts or external resources.
import * as l10n from '@vscode/l10n';
import * as vscode from 'vscode';
import { decisionPage } from '../model/decisionPage';
import { name } from '../model/name';
import type { Decision } from '../protocol';
import type { Session } from '../session';

const DECISIONS = 60;

export class DecisionView implements vscode.Disposable {
  private panel: vscode.WebviewPanel | undefined;

  constructor(private readonly session: Session) {}

  /** Shows a decision; without an id, the latest. */
  async show(threadId: string, decisionId?: string): Promise<void> {
    const thread = this.session.threads.get(threadId);
    const [{ decision }, { decisions }] = await Promise.all([
      this.session.ask('rawr/decision/explain', { threadId, decisionId }),
      this.session.ask('rawr/decision/list', { threadId, limit: DECISIONS }),
    ]);
    const shown = thread ? name(thread) : threadId;
    this.draw(threadId, shown, decision, decisions);
  }

  private draw(threadId: string, shown: string, decision: Decision, decisions: Decision[]): void {
    const panel = this.panel ?? this.open();
    panel.title = l10n.t('Decision in {0}', shown);
    panel.webview.html = decisionPage({ threadId, name: shown, decision, decisions, nowMs: Date.now() });
    panel.reveal(undefined, false);
  }

  private open(): vscode.WebviewPanel {
    const options = { enableScripts: false, enableCommandUris: ['rawr.explain'], localResourceRoots: [] };
    const panel = vscode.window.createWebviewPanel(
      'rawr.decision',
      'rawr',
      vscode.ViewColumn.Active,
      options,
    );
    panel.onDidDispose(() => (this.panel = undefined));
    this.panel = panel;
    return panel;
  }

  dispose(): void {
    this.panel?.dispose();
  }
}
