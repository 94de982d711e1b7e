// What a window shows while there is no sidecar: the state's name for `when` clauses, and the buttons of the one message.
import * as l10n from '@vscode/l10n';
import type { FailureCause, ServerState } from '../server/supervisor';

/** The value of the context key `rawr.state`. */
export type StateKey = 'starting' | 'stopped' | 'running' | FailureCause;

export function stateKey(state: ServerState): StateKey {
  return state.kind === 'failed' ? state.cause : state.kind;
}

/** A button's command; `mute` stops the message for this cause. */
export type FailureAction = 'install' | 'update' | 'setting' | 'restart' | 'log' | 'mute';

const ACTIONS: Record<FailureCause, FailureAction[]> = {
  missing: ['install', 'setting', 'mute'],
  incompatible: ['update', 'setting', 'mute'],
  crashed: ['restart', 'log', 'mute'],
};

export function failureActions(cause: FailureCause): { action: FailureAction; title: string }[] {
  const titles: Record<FailureAction, string> = {
    install: l10n.t('How to Install'),
    update: l10n.t('How to Update'),
    setting: l10n.t('Open Setting'),
    restart: l10n.t('Try Again'),
    log: l10n.t('Show Log'),
    mute: l10n.t('Do Not Show Again'),
  };
  return ACTIONS[cause].map((action) => ({ action, title: titles[action] }));
}
