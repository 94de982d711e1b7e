// The status bar's item, with the text of `model/status`.
import * as vscode from 'vscode';
import type { Status } from '../model/status';

const BACKGROUNDS = {
  warning: 'statusBarItem.warningBackground',
  error: 'statusBarItem.errorBackground',
};

export class StatusBar implements vscode.Disposable {
  private readonly item = vscode.window.createStatusBarItem('pressure', vscode.StatusBarAlignment.Left, 50);

  constructor() {
    this.item.name = 'rawr';
  }

  show(status: Status | undefined): void {
    const { item } = this;
    if (!status) {
      item.hide();
      return;
    }
    item.text = status.text;
    item.accessibilityInformation = { label: status.label, role: 'button' };
    item.tooltip = status.details.join('\n');
    item.command = status.answers ? 'rawr.answer' : 'rawr.threads.focus';
    // A background color also sets the foreground.
    item.backgroundColor = status.alarm && new vscode.ThemeColor(BACKGROUNDS[status.alarm]);
    item.color = !status.alarm && status.tier ? new vscode.ThemeColor(`rawr.tier.${status.tier}`) : undefined;
    item.show();
  }

  dispose(): void {
    this.item.dispose();
  }
}
