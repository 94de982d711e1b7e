// Notifications: one for each sequence, from its banner to its end, and short ones for recommendations.
import * as l10n from '@vscode/l10n';
import * as vscode from 'vscode';
import * as banners from '../model/banner';
import type { Banner } from '../model/banner';
import { type Answer, notice } from '../model/notice';
import type { Threads } from '../model/threads';
import * as words from '../model/words';
import type { CompactionUpdateNotification, SequenceRespondedNotification } from '../protocol';
import { settings } from '../settings';

interface Shown {
  sequenceId: string;
  text: string;
  report(text: string): void;
  end(): void;
}

const BRIEFLY_MS = 8_000;

export class Notices implements vscode.Disposable {
  private readonly shown = new Map<string, Shown>();
  private readonly offered = new Set<string>();

  /** Shows, updates and closes notifications. */
  update(threads: Threads): void {
    const wanted = settings().notifications === 'none' ? [] : threads.banners;
    const byThread = new Map(wanted.map((banner) => [banner.threadId, banner]));
    for (const [threadId, shown] of this.shown) {
      const banner = byThread.get(threadId);
      if (banner && banners.isOfSequence(banner) && banner.headsUp.sequenceId === shown.sequenceId) continue;
      shown.end();
      this.shown.delete(threadId);
    }
    for (const banner of byThread.values()) {
      if (banners.isOfSequence(banner)) this.follow(banner);
      else this.offer(banner);
    }
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

  dispose(): void {
    for (const shown of this.shown.values()) shown.end();
    this.shown.clear();
  }

  private follow(banner: Banner): void {
    const { threadId } = banner;
    const { sequenceId } = banner.headsUp;
    const text = notice(banner);
    const shown = this.shown.get(threadId);
    if (!shown) {
      this.shown.set(threadId, begin({ threadId, sequenceId, choice: 'cancel' }, text));
    } else if (shown.text !== text) {
      shown.text = text;
      shown.report(text);
    }
  }

  /** Nothing runs yet, so a message in the status bar is enough. */
  private offer(banner: Banner): void {
    const { threadId } = banner;
    const { sequenceId, stage, choices } = banner.headsUp;
    if (stage === 'tagged' || settings().notifications !== 'all' || this.offered.has(sequenceId)) return;
    this.offered.add(sequenceId);
    const items = choices.map(({ choice, label }) => ({ title: words.translated(label), choice }));
    const text = banners.harmless(`${banners.title(banner)}: ${banners.why(banner)}`);
    void vscode.window.showInformationMessage(text, ...items).then((item) => {
      if (!item) return;
      void vscode.commands.executeCommand('rawr.answerWith', { threadId, sequenceId, choice: item.choice });
    });
  }
}

/** A notification needs a button to show its whole text and its links. */
function begin(answer: Answer, text: string): Shown {
  let end = (): void => undefined;
  let report: (text: string) => void = () => undefined;
  const over = new Promise<void>((resolve) => (end = resolve));
  const options = { location: vscode.ProgressLocation.Notification, title: 'rawr', cancellable: true };
  void vscode.window.withProgress(options, (progress, token) => {
    token.onCancellationRequested(() => void vscode.commands.executeCommand('rawr.answerWith', answer));
    report = (message) => progress.report({ message });
    report(text);
    return over;
  });
  return { sequenceId: answer.sequenceId, text, report: (message) => report(message), end: () => end() };
}
