// Messages: one for each banner, and short ones for results.
import * as l10n from '@vscode/l10n';
import * as vscode from 'vscode';
import * as banners from '../model/banner';
import type { Banner } from '../model/banner';
import { type Button, type WatchedBanner, buttons, expiry, notice, watched } from '../model/notice';
import type { Threads } from '../model/threads';
import * as words from '../model/words';
import type { CompactionUpdateNotification, SequenceRespondedNotification } from '../protocol';
import { settings } from '../settings';

const BRIEFLY_MS = 8_000;

export class Notices {
  /** The sequences that were announced. */
  private readonly told = new Set<string>();
  /** The banners at the last update, by thread. */
  private before = new Map<string, WatchedBanner>();

  update(threads: Threads): void {
    const { notifications } = settings();
    const current = watched(threads, this.before);
    if (notifications !== 'none') {
      for (const { banner } of current.values())
        if (notifications === 'all' || banners.isOfSequence(banner)) this.tell(banner, threads);
      for (const [threadId, before] of this.before) tellExpiry(before, threads, current.get(threadId));
    }
    this.before = current;
  }

  compacted(news: CompactionUpdateNotification): void {
    if (news.status === 'completed') {
      const figures = words.landed(news.tokensBefore, news.tokensAfter);
      vscode.window.setStatusBarMessage(l10n.t('Context compacted: {0}', figures), BRIEFLY_MS);
    } else if (news.status === 'failed') {
      void vscode.window.showWarningMessage(
        l10n.t('The compaction failed: {0}', news.error ?? l10n.t('no reason given')),
      );
    }
  }

  responded(news: SequenceRespondedNotification): void {
    const by = news.by ?? l10n.t('another client');
    vscode.window.setStatusBarMessage(
      l10n.t('Answered by {0}: {1}', by, words.choice(news.choice)),
      BRIEFLY_MS,
    );
  }

  /** Closing the message answers nothing; the status bar's item has the choices as well. */
  private tell(banner: Banner, threads: Threads): void {
    const { threadId } = banner;
    const { sequenceId, stage } = banner.headsUp;
    const key = `${threadId}/${sequenceId}`;
    const items = buttons(banner);
    if (stage === 'tagged' || items.length === 0 || this.told.has(key)) return;
    this.told.add(key);
    void show(banner, notice(banner, threads.get(threadId)), items).then((item) => {
      if (!item) return;
      if (item.choice === 'mute') void mute();
      else
        void vscode.commands.executeCommand('rawr.answerWith', { threadId, sequenceId, choice: item.choice });
    });
  }
}

/** Only announced compactions are told from now on. */
async function mute(): Promise<void> {
  const all = vscode.workspace.getConfiguration('rawr');
  await all.update('notifications', 'sequences', vscode.ConfigurationTarget.Global);
}

function show(banner: Banner, text: string, items: Button[]): Thenable<Button | undefined> {
  return banner.headsUp.stage === 'awaiting_approval'
    ? vscode.window.showWarningMessage(text, ...items)
    : vscode.window.showInformationMessage(text, ...items);
}

function tellExpiry(before: WatchedBanner, threads: Threads, current: WatchedBanner | undefined): void {
  if (current?.banner.headsUp.sequenceId === before.banner.headsUp.sequenceId) return;
  const text = expiry(before, threads.get(before.banner.threadId));
  if (text !== undefined) void vscode.window.showInformationMessage(text);
}
