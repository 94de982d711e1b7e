// Commands of the CLI that run in a terminal, because they print or ask more than a message can hold.
import * as l10n from '@vscode/l10n';
import * as vscode from 'vscode';
import { commandLine } from './model/commandLine';
import { capsulePicks } from './model/picks';
import { type Thread } from './model/threads';
import { NothingToDo, type Session } from './session';
import { settings } from './settings';
import { refuseInDemo } from './surface/demo';

/** Puts a command into a new terminal. What changes something is started by the user. */
async function inTerminal(session: Session, args: string[], start: boolean, cwd?: string): Promise<void> {
  const { binary } = await session.sidecar();
  const terminal = vscode.window.createTerminal({ name: `rawr ${args[0] ?? ''}`, cwd });
  terminal.show();
  terminal.sendText(commandLine(binary.path, settings().home, args), start);
}

export function doctor(session: Session): Promise<void> {
  return inTerminal(session, ['doctor'], true);
}

export async function recall(session: Session, { summary: { threadId } }: Thread): Promise<void> {
  const prompt = l10n.t('Words to find in the conversation, also before its compactions');
  const words = (await vscode.window.showInputBox({ prompt }))?.split(/\s+/).filter(Boolean) ?? [];
  if (words.length > 0) await inTerminal(session, ['recall', '--thread', threadId, '--', ...words], true);
}

/** Restores the state before a compaction in a new thread; without an id, of a compaction that the user selects. */
export async function restore(session: Session, thread: Thread, capsuleId?: string): Promise<void> {
  refuseInDemo();
  const { threadId, cwd } = thread.summary;
  const chosen = capsuleId ?? (await pickCapsule(session, threadId));
  if (chosen === undefined) return;
  await inTerminal(session, ['restore', chosen, threadId], false, cwd);
  const hint = l10n.t(
    'Press Enter in the terminal to restore the state before this compaction in a new thread.',
  );
  void vscode.window.showInformationMessage(hint);
}

async function pickCapsule(session: Session, threadId: string): Promise<string | undefined> {
  const { capsules } = await session.ask('rawr/capsule/list', { threadId });
  if (capsules.length === 0)
    throw new NothingToDo(l10n.t('This thread has no compaction to go back to yet.'));
  const placeHolder = l10n.t('Restore the state before which compaction?');
  return (await vscode.window.showQuickPick(capsulePicks(capsules, Date.now()), { placeHolder }))?.value;
}
