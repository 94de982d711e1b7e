// Tells that there is no sidecar: a context key for the view and the commands, and one message.
import * as vscode from 'vscode';
import { type FailureAction, failureActions, stateKey } from '../model/serverFailure';
import type { FailureCause, ServerState } from '../server/supervisor';

const MUTED = 'rawr.mutedFailures';

export class ServerNotice {
  /** The failure that was told last, so that a second start does not tell it again. */
  private told: string | undefined;

  constructor(
    private readonly extension: vscode.ExtensionContext,
    private readonly log: vscode.LogOutputChannel,
  ) {}

  show(state: ServerState): void {
    void vscode.commands.executeCommand('setContext', 'rawr.state', stateKey(state));
    if (state.kind === 'running') this.told = undefined;
    if (state.kind !== 'failed' || this.told === state.why || this.muted.includes(state.cause)) return;
    this.told = state.why;
    void this.tell(state.cause, state.why);
  }

  private async tell(cause: FailureCause, why: string): Promise<void> {
    const chosen = await vscode.window.showErrorMessage(why, ...failureActions(cause));
    this.told = undefined;
    if (chosen) await this.perform(chosen.action, cause);
  }

  private async perform(action: FailureAction, cause: FailureCause): Promise<void> {
    switch (action) {
      case 'install':
      case 'update':
        return vscode.commands.executeCommand('rawr.howToInstall');
      case 'setting':
        return vscode.commands.executeCommand('workbench.action.openSettings', 'rawr.server.path');
      case 'restart':
        return vscode.commands.executeCommand('rawr.restart');
      case 'log':
        this.log.show();
        return;
      case 'mute':
        return this.extension.globalState.update(MUTED, [...this.muted, cause]);
    }
  }

  private get muted(): FailureCause[] {
    return this.extension.globalState.get<FailureCause[]>(MUTED, []);
  }
}
