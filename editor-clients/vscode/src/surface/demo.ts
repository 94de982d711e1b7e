// "Show Me": runs the scripted demo in a terminal, and shows its thread in this window until its message is closed.
import * as l10n from '@vscode/l10n';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import * as path from 'node:path';
import * as vscode from 'vscode';
import type { Found } from '../server/binary';
import { showHome } from '../settings';

const LOOK_EVERY_MS = 50;

export class Demo implements vscode.Disposable {
  private folder: string | undefined;
  private running: vscode.TaskExecution | undefined;

  /** Starts the demo, or starts it over. */
  async start(binary: Found): Promise<void> {
    await this.leave();
    const folder = mkdtempSync(path.join(tmpdir(), 'rawr-show-me-'));
    this.folder = folder;
    const ended = this.run(binary.path, folder);
    const home = path.join(folder, 'home');
    const isShown = await this.appears(home);
    if (!isShown || this.folder !== folder) return;
    showHome(home);
    await vscode.commands.executeCommand('rawr.restart');
    await vscode.commands.executeCommand('rawr.threads.focus');
    void ended.then(() => this.tell(folder));
  }

  dispose(): void {
    this.running?.terminate();
    if (this.folder !== undefined) rmSync(this.folder, { recursive: true, force: true });
    this.folder = undefined;
  }

  /** A task without a shell, because its terminal stays open after the end, unlike one of `createTerminal`. */
  private async run(binary: string, folder: string): Promise<void> {
    const process = new vscode.ProcessExecution(binary, ['demo', '--pace', '--keep', folder]);
    const scope = vscode.TaskScope.Workspace;
    const task = new vscode.Task({ type: 'process' }, scope, l10n.t('Show Me'), 'rawr', process);
    task.presentationOptions = { reveal: vscode.TaskRevealKind.Always, showReuseMessage: false };
    const execution = await vscode.tasks.executeTask(task);
    this.running = execution;
    await new Promise<void>((resolve) => {
      const listening = vscode.tasks.onDidEndTask((end) => {
        if (end.execution !== execution) return;
        listening.dispose();
        this.running = undefined;
        resolve();
      });
    });
  }

  /** The demo needs an empty folder, so its home must not be opened before the demo creates it. */
  private async appears(home: string): Promise<boolean> {
    for (let left = 200; left > 0 && !existsSync(home); left -= 1)
      await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS));
    return existsSync(home);
  }

  private async tell(folder: string): Promise<void> {
    const [explain, back] = [l10n.t('Explain the Decision'), l10n.t('Back to My Threads')];
    const message = l10n.t('The demo is over. This window shows its thread until you go back to yours.');
    const answer = await vscode.window.showInformationMessage(message, explain, back);
    if (this.folder !== folder) return;
    if (answer === explain) {
      await vscode.commands.executeCommand('rawr.explain');
      return this.tell(folder);
    }
    await this.leave();
  }

  /** Shows the user's own threads again. */
  private async leave(): Promise<void> {
    if (this.folder === undefined) return;
    showHome(undefined);
    await vscode.commands.executeCommand('rawr.restart');
    this.dispose();
  }
}
