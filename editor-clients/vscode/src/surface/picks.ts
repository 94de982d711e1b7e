// The quick picks of the commands.
import * as l10n from '@vscode/l10n';
import * as vscode from 'vscode';
import type { Banner } from '../model/banner';
import { name } from '../model/name';
import { type PickEntry, answerHead, answerPicks, guardPicks, threadPicks } from '../model/picks';
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

export function pickGuardEnd(thread: Thread): Promise<Until | undefined> {
  const title = l10n.t('{0}: do not compact …', name(thread));
  return pick(guardPicks(), { title, placeHolder: l10n.t('No compaction …') });
}
