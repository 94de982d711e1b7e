// The decision view: a panel with the page of `model/decisionPage`, without scripts or external resources.
import * as l10n from '@vscode/l10n';
import * as vscode from 'vscode';
import { decisionPage, isOutdated } from '../model/decisionPage';
import { name } from '../model/name';
import type { Decision } from '../protocol';
import type { Session } from '../session';
import { said } from '../sidecar';

const TYPE = 'rawr.decision';
const OPTIONS = {
  enableScripts: false,
  enableCommandUris: ['rawr.explain', 'rawr.openPacket'],
  localResourceRoots: [],
};
const DECISIONS = 60;

/** What the panel shows; without a decision, the latest one. */
interface Subject {
  threadId: string;
  decisionId?: string;
}

interface Drawing {
  decision: Decision;
  title: string;
  html: string;
}

export class DecisionView implements vscode.WebviewPanelSerializer, vscode.Disposable {
  private panel: vscode.WebviewPanel | undefined;
  private subject: Subject | undefined;
  /** The decision as the panel shows it. */
  private drawn: Decision | undefined;

  /** A page without scripts cannot store its subject, so `memory` keeps it across a reload of the window. */
  constructor(
    private readonly session: Session,
    private readonly memory: vscode.Memento,
    private readonly log: vscode.LogOutputChannel,
  ) {}

  register(): vscode.Disposable {
    return vscode.window.registerWebviewPanelSerializer(TYPE, this);
  }

  /** Shows a decision; without an id, the latest. */
  async show(threadId: string, decisionId?: string): Promise<void> {
    const subject = { threadId, decisionId };
    const drawing = await this.page(subject);
    const panel = this.panel ?? this.open();
    this.subject = subject;
    await this.memory.update(TYPE, subject);
    this.draw(panel, drawing);
    panel.reveal(undefined, false);
  }

  /** Draws again: a decision of this thread is new or changed, or all threads were loaded. The user did not ask for it. */
  async refresh(threadId = this.subject?.threadId): Promise<void> {
    const { panel, subject } = this;
    if (!panel || !subject || subject.threadId !== threadId) return;
    try {
      const drawing = await this.page(subject);
      if (this.panel !== panel || this.subject !== subject) return;
      if (isOutdated(subject.decisionId, this.drawn, drawing.decision)) this.draw(panel, drawing);
    } catch (error) {
      this.log.warn(`failed to update the explanation of a decision: ${said(error)}`);
    }
  }

  async deserializeWebviewPanel(panel: vscode.WebviewPanel): Promise<void> {
    this.subject = this.memory.get<Subject>(TYPE);
    if (!this.subject) {
      panel.dispose();
      return;
    }
    panel.webview.options = OPTIONS;
    this.adopt(panel);
    // Otherwise it is drawn once the threads are loaded.
    if (this.session.threads.get(this.subject.threadId)) await this.refresh();
  }

  private async page({ threadId, decisionId }: Subject): Promise<Drawing> {
    const thread = this.session.threads.get(threadId);
    const [{ decision }, { decisions }] = await Promise.all([
      this.session.ask('rawr/decision/explain', { threadId, decisionId }),
      this.session.ask('rawr/decision/list', { threadId, limit: DECISIONS }),
    ]);
    const shown = thread ? name(thread) : threadId;
    const language = vscode.l10n.bundle ? vscode.env.language : 'en';
    const page = { threadId, name: shown, decision, decisions, nowMs: Date.now(), language };
    const html = decisionPage(page);
    return { decision, title: l10n.t('Decision in {0}', shown), html };
  }

  private draw(panel: vscode.WebviewPanel, { decision, title, html }: Drawing): void {
    this.drawn = decision;
    panel.title = title;
    panel.webview.html = html;
    void vscode.commands.executeCommand('setContext', 'rawr.hasExplained', true);
  }

  private open(): vscode.WebviewPanel {
    return this.adopt(vscode.window.createWebviewPanel(TYPE, 'rawr', vscode.ViewColumn.Active, OPTIONS));
  }

  private adopt(panel: vscode.WebviewPanel): vscode.WebviewPanel {
    panel.onDidDispose(() => {
      if (this.panel === panel) this.panel = undefined;
    });
    this.panel = panel;
    this.drawn = undefined;
    return panel;
  }

  dispose(): void {
    this.panel?.dispose();
  }
}
