// The status bar's item, with the text of `model/status`.
import { isDeepStrictEqual } from 'node:util';
import * as vscode from 'vscode';
import type { Status } from '../model/status';
import { TOOLTIP_COMMANDS } from '../model/tooltip';

const BACKGROUNDS = {
  warning: 'statusBarItem.warningBackground',
  error: 'statusBarItem.errorBackground',
};

export class StatusBar implements vscode.Disposable {
  private readonly item = vscode.window.createStatusBarItem('pressure', vscode.StatusBarAlignment.Left, 50);
  private drawn: Status | undefined;

  constructor() {
    this.item.name = 'rawr';
  }

  /** Draws only a difference, because drawing closes an open tooltip. */
  show(status: Status | undefined): void {
    if (isDeepStrictEqual(status, this.drawn)) return;
    this.drawn = status;
    if (status) this.draw(status);
    else this.item.hide();
  }

  private draw(status: Status): void {
    const { item } = this;
    item.text = status.text;
    item.accessibilityInformation = { label: status.label, role: 'button' };
    item.tooltip = new vscode.MarkdownString(status.tooltip);
    item.tooltip.isTrusted = { enabledCommands: TOOLTIP_COMMANDS };
    item.command = status.answers ? 'rawr.answer' : 'rawr.threads.focus';
    // A background color also sets the foreground.
    item.backgroundColor = status.alarm && new vscode.ThemeColor(BACKGROUNDS[status.alarm]);
    item.show();
  }

  dispose(): void {
    this.item.dispose();
  }
}
