// The commands: from the palette for the active thread, from a menu for the row's. What is decided is the sidecar's.
import * as l10n from '@vscode/l10n';
import * as vscode from 'vscode';
import * as banners from './model/banner';
import type { Answer } from './model/notice';
import { name } from './model/status';
import type { Thread } from './model/threads';
import { runs } from './model/threads';
import type { About, Row } from './model/tree';
import * as words from './model/words';
import type { Until } from './protocol';
import { type Session, shown } from './session';
import type { DecisionView } from './surface/decisionView';
import type { PacketEditor } from './surface/packetEditor';
import { openPreview, openPrompt } from './surface/promptPreview';

export interface Surfaces {
  packets: PacketEditor;
  decisions: DecisionView;
}

type Given = Row | Partial<About> | undefined;

/** A menu gives the row, a link or a click what it is about, the palette nothing. */
function about(given: Given): Partial<About> {
  if (!given) return {};
  return 'about' in given ? given.about : given;
}

async function meant(session: Session, given: Given): Promise<Thread | undefined> {
  const { threadId } = about(given);
  const thread = session.thread(threadId);
  if (threadId !== undefined || session.threads.all.filter(runs).length < 2) {
    if (!thread)
      void vscode.window.showInformationMessage(
        l10n.t('There is no thread here yet: run an agent with rawr first.'),
      );
    return thread;
  }
  const items = session.threads.all.map((one) => ({
    label: name(one),
    description: words.left(one.summary.percentRemaining),
    detail: one.summary.threadId,
    one,
  }));
  return (await vscode.window.showQuickPick(items, { placeHolder: l10n.t('Which thread?') }))?.one;
}

/** What holds where the thread is not run now. */
function recorded(thread: Thread, what: string): void {
  const when = runs(thread) ? l10n.t('taken up at once') : l10n.t('it holds when the thread is run again');
  vscode.window.setStatusBarMessage(`${what}: ${when}`, 8_000);
}

const UNTILS: Until[] = [
  { kind: 'next_commit' },
  { kind: 'tests_pass' },
  { kind: 'turns', turns: 1 },
  { kind: 'turns', turns: 3 },
  { kind: 'minutes', minutes: 15 },
  { kind: 'minutes', minutes: 60 },
  { kind: 'released' },
];

async function guard(session: Session, given: Given): Promise<void> {
  const thread = await meant(session, given);
  if (!thread) return;
  const items = UNTILS.map((until) => ({ label: words.until(until), until }));
  const chosen = await vscode.window.showQuickPick(items, { placeHolder: l10n.t('No compaction …') });
  if (!chosen) return;
  await session.ask('rawr/guard/set', { threadId: thread.summary.threadId, until: chosen.until });
  recorded(thread, l10n.t('No compaction {0}', chosen.label));
}

async function pin(session: Session, given: Given): Promise<void> {
  const thread = await meant(session, given);
  if (!thread) return;
  const prompt = l10n.t('An instruction that every handoff repeats word for word');
  const text = await vscode.window.showInputBox({ prompt });
  if (!text?.trim()) return;
  const signal = { kind: 'directive', text, pinned: true } as const;
  await session.ask('rawr/signal/report', { threadId: thread.summary.threadId, signal });
  recorded(thread, l10n.t('Pinned'));
}

async function mark(session: Session, given: Given): Promise<void> {
  const thread = await meant(session, given);
  if (!thread) return;
  const prompt = l10n.t('What is the phase called that ends here?');
  const label = (await vscode.window.showInputBox({ prompt }))?.trim();
  if (!label) return;
  const signal = { kind: 'phase_boundary', label } as const;
  await session.ask('rawr/signal/report', { threadId: thread.summary.threadId, signal });
  recorded(thread, l10n.t('Marked'));
}

/** Snoozed at once, so that nothing overtakes it; for longer on a second click. */
async function answerWith(session: Session, surfaces: Surfaces, answer: Partial<Answer>): Promise<void> {
  const { threadId, sequenceId, choice } = answer;
  if (threadId === undefined || choice === undefined) return;
  if (choice === 'edit_packet') {
    if (sequenceId !== undefined) await surfaces.packets.open(threadId, sequenceId);
    return;
  }
  await session.answer(threadId, sequenceId, choice);
  if (choice !== 'snooze') return;
  const longer = l10n.t('Longer…');
  void vscode.window.showInformationMessage(l10n.t('Snoozed for one turn.'), longer).then((more) => {
    if (more) void vscode.commands.executeCommand('rawr.guard', { threadId });
  });
}

async function answer(session: Session, surfaces: Surfaces, given: Given): Promise<void> {
  const { threadId } = about(given);
  const thread = threadId === undefined ? session.active : session.threads.get(threadId);
  const banner = thread?.banner;
  const choices = banner?.headsUp.choices ?? [];
  if (!banner || choices.length === 0) {
    await vscode.commands.executeCommand('rawr.threads.focus');
    return;
  }
  const { sequenceId } = banner.headsUp;
  const items = choices.map(({ choice, label }) => ({ label: words.translated(label), choice }));
  const options = { title: banners.title(banner), placeHolder: banners.why(banner) };
  const chosen = await vscode.window.showQuickPick(items, options);
  if (chosen)
    await answerWith(session, surfaces, { threadId: banner.threadId, sequenceId, choice: chosen.choice });
}

async function compactNow(session: Session, given: Given): Promise<void> {
  const thread = await meant(session, given);
  if (!thread) return;
  const { banner } = thread;
  const asks = banner !== undefined && banners.offers(banner, 'approve');
  const { threadId } = thread.summary;
  await session.answer(threadId, asks ? thread.sequenceId : undefined, asks ? 'approve' : 'compact_now');
  recorded(thread, l10n.t('A compaction is asked for'));
}

async function say(session: Session, given: Given, choice: 'snooze' | 'cancel', said: string): Promise<void> {
  const thread = await meant(session, given);
  if (!thread) return;
  await session.answer(thread.summary.threadId, thread.sequenceId, choice);
  recorded(thread, said);
}

async function openScratch(session: Session, given: Given): Promise<void> {
  const thread = await meant(session, given);
  if (!thread) return;
  const { path, exists } = await session.ask('rawr/scratch/path', { threadId: thread.summary.threadId });
  if (!exists) throw new Error(l10n.t('The agent has written no notes yet: {0}', path));
  await vscode.window.showTextDocument(vscode.Uri.file(path));
}

async function openPacket(session: Session, surfaces: Surfaces, given: Given): Promise<void> {
  const thread = await meant(session, given);
  if (!thread) return;
  const { threadId } = thread.summary;
  const running = about(given).sequenceId ?? thread.sequenceId;
  const sequenceId = running ?? (await session.ask('rawr/packet/get', { threadId })).sequenceId;
  await surfaces.packets.open(threadId, sequenceId);
}

async function openConfig(session: Session): Promise<void> {
  const { layers } = await (await session.sidecar()).ask('rawr/config/get', {});
  const files = layers.filter((layer) => layer.endsWith('.toml'));
  const [first, ...others] = files;
  if (first === undefined) throw new Error(l10n.t('There is no configuration file yet: run rawr init.'));
  const chosen =
    others.length === 0
      ? first
      : await vscode.window.showQuickPick(files, { placeHolder: l10n.t('Which file?') });
  if (chosen !== undefined) await vscode.window.showTextDocument(vscode.Uri.file(chosen));
}

/** With what its menu, its link or nobody gives it. */
type Work = (given: never) => Promise<unknown>;

export function register(session: Session, surfaces: Surfaces): vscode.Disposable {
  const command = (id: string, work: Work): vscode.Disposable =>
    vscode.commands.registerCommand(id, (given: never) => shown(() => work(given)));
  const explain = async (given: Given): Promise<void> => {
    const thread = await meant(session, given);
    if (thread) await surfaces.decisions.show(thread.summary.threadId, about(given).decisionId);
  };
  const clear = async (row: Row): Promise<void> => {
    const { threadId, guardId, directiveId } = row.about;
    if (guardId !== undefined) await session.ask('rawr/guard/clear', { threadId, guardId });
    if (directiveId !== undefined) await session.ask('rawr/directive/clear', { threadId, directiveId });
  };
  const follow = async (given: Given): Promise<void> => {
    session.chosen = (await meant(session, given))?.summary.threadId;
    session.changed();
  };
  return vscode.Disposable.from(
    command('rawr.answer', (given: Given) => answer(session, surfaces, given)),
    command('rawr.answerWith', (given: Partial<Answer>) => answerWith(session, surfaces, given)),
    command('rawr.compactNow', (given: Given) => compactNow(session, given)),
    command('rawr.snooze', (given: Given) => say(session, given, 'snooze', l10n.t('Snoozed for one turn'))),
    command('rawr.cancel', (given: Given) => say(session, given, 'cancel', l10n.t('Not this time'))),
    command('rawr.guard', (given: Given) => guard(session, given)),
    command('rawr.pin', (given: Given) => pin(session, given)),
    command('rawr.mark', (given: Given) => mark(session, given)),
    command('rawr.clear', clear),
    command('rawr.follow', follow),
    command('rawr.openScratch', (given: Given) => openScratch(session, given)),
    command('rawr.openPacket', (given: Given) => openPacket(session, surfaces, given)),
    command('rawr.handOver', (uri?: vscode.Uri) => surfaces.packets.handOver(uri)),
    command('rawr.explain', explain),
    command('rawr.openPreview', (uri?: vscode.Uri) => openPreview(session, uri)),
    command('rawr.openPrompt', () => openPrompt(session)),
    command('rawr.openConfig', () => openConfig(session)),
  );
}
