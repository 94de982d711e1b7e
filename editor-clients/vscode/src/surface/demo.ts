// "Show Me": runs the scripted demo in a terminal, and shows its thread in this window until shortly after its end. Nothing of the
// user's is edited in the demo's home, because it is removed with the demo.
import * as l10n from '@vscode/l10n';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import * as path from 'node:path';
import { setTimeout } from 'node:timers/promises';
import * as vscode from 'vscode';
import type { Found } from '../server/binary';
import { homeAppears } from '../server/demoHome';
import { NothingToDo, shown } from '../session';
import { showHome, showsDemo } from '../settings';

const HOME_WITHIN_MS = 60_000;
const END_WITHIN_MS = 5_000;
/** The time to look at its thread after its end. */
const LOOK_MS = 30_000;
/** The name of the task, which tells its end from those of other tasks. */
const SOURCE = 'rawr';

export class Demo implements vscode.Disposable {
  private folder: string | undefined;
  private running: vscode.TaskExecution | undefined;
  /** Settles once the demo that was started last has ended. */
  private ended: Promise<void> = Promise.resolve();

  /** Starts the demo, or starts it over. */
  async start(binary: Found): Promise<void> {
    await this.leave();
    const folder = mkdtempSync(path.join(tmpdir(), 'rawr-show-me-'));
    this.folder = folder;
    const ended = this.run(binary.path, folder);
    this.ended = ended;
    const home = path.join(folder, 'home');
    try {
      if (!(await homeAppears(home, ended, HOME_WITHIN_MS)))
        throw new Error(l10n.t('The demo failed to start; its terminal shows why.'));
    } catch (error) {
      if (this.folder === folder) await this.remove();
      throw error;
    }
    if (this.folder !== folder) return;
    showHome(home);
    await vscode.commands.executeCommand('rawr.restart');
    await vscode.commands.executeCommand('rawr.threads.focus');
    void shown(() => ended.then(() => this.afterwards(folder)));
  }

  dispose(): void {
    this.running?.terminate();
    showHome(undefined);
    if (this.folder !== undefined) rmSync(this.folder, { recursive: true, force: true });
    this.folder = undefined;
  }

  /** A task without a shell, because its terminal stays open after the end, unlike one of `createTerminal`. */
  private async run(binary: string, folder: string): Promise<void> {
    const process = new vscode.ProcessExecution(binary, ['demo', '--pace', '--lend', folder]);
    const scope = vscode.TaskScope.Workspace;
    const task = new vscode.Task({ type: 'process' }, scope, l10n.t('Show Me'), SOURCE, process);
    task.presentationOptions = { reveal: vscode.TaskRevealKind.Always, showReuseMessage: false };
    let listening: vscode.Disposable | undefined;
    // Before the start, because a demo that fails at once may end before its execution is known.
    const end = new Promise<void>((resolve) => {
      listening = vscode.tasks.onDidEndTask(({ execution }) => {
        if (execution.task.source === SOURCE) resolve();
      });
    });
    try {
      this.running = await vscode.tasks.executeTask(task);
      await end;
    } finally {
      listening?.dispose();
      this.running = undefined;
    }
  }

  /** Leaves by itself, because a message may move out of sight unanswered. */
  private async afterwards(folder: string): Promise<void> {
    if (this.folder !== folder) return;
    const [explain, back] = [l10n.t('Explain the Decision'), l10n.t('Back to My Threads')];
    const message = l10n.t('The demo is over. This window goes back to your threads in a moment.');
    const asked = vscode.window.showInformationMessage(message, explain, back);
    const answer = await Promise.race([asked, setTimeout(LOOK_MS, undefined, { ref: false })]);
    if (this.folder !== folder) return;
    if (answer === explain) {
      await vscode.commands.executeCommand('rawr.explain');
      return this.afterwards(folder);
    }
    await this.leave();
  }

  /** Shows the user's own threads again. */
  async leave(): Promise<void> {
    if (this.folder === undefined) return;
    if (showsDemo()) {
      showHome(undefined);
      await vscode.commands.executeCommand('rawr.restart');
    }
    await this.remove();
  }

  /** Removes the demo's folder, unless the demo still uses it. */
  private async remove(): Promise<void> {
    const { folder } = this;
    this.folder = undefined;
    this.running?.terminate();
    const ended = this.ended.then(
      () => true,
      () => true,
    );
    const hasEnded = await Promise.race([ended, setTimeout(END_WITHIN_MS, false)]);
    if (folder !== undefined && hasEnded) rmSync(folder, { recursive: true, force: true });
  }
}

/** For commands that open files of a thread. */
export function refuseInDemo(): void {
  if (showsDemo()) throw new NothingToDo(l10n.t('The files of the demo are removed when it is over.'));
}
