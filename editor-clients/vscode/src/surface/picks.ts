// The quick picks of the commands.
import * as l10n from '@vscode/l10n';
import * as vscode from 'vscode';
import type { Banner } from '../model/banner';
import { name } from '../model/name';
import {
  type CountedEnd,
  type PickEntry,
  answerHead,
  answerPicks,
  counted,
  guardPicks,
  threadPicks,
} from '../model/picks';
import type { Thread } from '../model/threads';
import type { Choice, Until } from '../protocol';

async function pick<T>(items: PickEntry<T>[], options: vscode.QuickPickOptions): Promise<T | undefined> {
  return (await vscode.window.showQuickPick(items, options))?.value;
}

export function pickThread(threads: readonly Thread[]): Promise<Thread | undefined> {
  return pick(threadPicks(threads), { placeHolder: l10n.t('Which thread?') });
}

export function pickAnswer(banner: Banner, thread: Thread): Promise<Choice | undefined> {
  const { title, text } = answerHead(banner, thread, Date.now());
  return pick(answerPicks(banner), { title, placeHolder: text });
}

export interface GuardChoice {
  until: Until;
  note?: string;
}

/** The end of a guard, and why it is set. Undefined if the user leaves one of the questions. */
export async function pickGuard(thread: Thread): Promise<GuardChoice | undefined> {
  const title = l10n.t('{0}: do not compact …', name(thread));
  const end = await pick(guardPicks(), { title, placeHolder: l10n.t('No compaction …') });
  const until = end?.kind === 'count' ? await askCount(title, end) : end;
  if (!until) return undefined;
  const prompt = l10n.t('Why? The note is shown with the guard. Press Enter for none.');
  const note = await vscode.window.showInputBox({ title, prompt });
  if (note === undefined) return undefined;
  return { until, ...(note.trim() === '' ? {} : { note: note.trim() }) };
}

async function askCount(title: string, end: CountedEnd): Promise<Until | undefined> {
  const prompt = end.of === 'turns' ? l10n.t('Number of turns') : l10n.t('Number of minutes');
  const validateInput = (text: string): string | undefined =>
    counted(end, text) ? undefined : l10n.t('Enter a whole number from 1 to 99999.');
  const text = await vscode.window.showInputBox({ title, prompt, validateInput });
  return text === undefined ? undefined : counted(end, text);
}
