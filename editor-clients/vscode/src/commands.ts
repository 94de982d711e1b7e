// The commands: from the palette for the active thread, from a menu for its row.
import * as l10n from '@vscode/l10n';
import * as vscode from 'vscode';
import { configFiles } from './model/configFiles';
import { confirmation } from './model/name';
import type { Answer } from './model/notice';
import type { Thread } from './model/threads';
import { isAnswerable, runs } from './model/threads';
import type { About, Row } from './model/row';
import * as words from './model/words';
import { created } from './server/init';
import { NothingToDo, type Session, shown } from './session';
import { isNoSequence } from './sidecar';
import type { DecisionView } from './surface/decisionView';
import { type Demo, refuseInDemo } from './surface/demo';
import type { PacketEditor } from './surface/packetEditor';
import { pickAnswer, pickGuard, pickThread } from './surface/picks';
import { openPreview, openPrompt } from './surface/promptPreview';
import { doctor, recall, restore } from './terminalCommands';

export interface Surfaces {
  packets: PacketEditor;
  decisions: DecisionView;
  demo: Demo;
}

type CommandTarget = Row | Partial<About> | undefined;

/** A menu passes the row, a link or a click its subject, the palette nothing. */
function about(given: CommandTarget): Partial<About> {
  if (!given) return {};
  return 'about' in given ? given.about : given;
}

async function meant(session: Session, given: CommandTarget): Promise<Thread | undefined> {
  const { threadId } = about(given);
  const thread = session.thread(threadId);
  if (threadId !== undefined || session.threads.all.filter(runs).length < 2) {
    if (!thread) await session.sidecar();
    if (!thread) throw new NothingToDo(l10n.t('There is no thread here yet: run an agent with rawr first.'));
    return thread;
  }
  return pickThread(session.threads.all);
}

/** The thread to answer. Asks if there are several, because the most urgent one can change before a key is pressed. */
async function toAnswer(session: Session, given: CommandTarget): Promise<Thread | undefined> {
  const threads = about(given).threadId === undefined ? session.answerable : [];
  if (threads.length === 0) return meant(session, given);
  return threads.length === 1 ? threads[0] : pickThread(threads);
}

/** Shows a confirmation. A thread that does not run applies the request later. */
function recorded(thread: Thread, what: string): void {
  const later = runs(thread) ? '' : ` ${l10n.t('Takes effect when the thread next runs.')}`;
  vscode.window.setStatusBarMessage(confirmation(thread, what + later), 8_000);
}

async function guard(session: Session, given: CommandTarget): Promise<void> {
  const thread = await meant(session, given);
  if (!thread) return;
  const guard = await pickGuard(thread);
  if (!guard) return;
  const { guardId } = await session.ask('rawr/guard/set', { threadId: thread.summary.threadId, ...guard });
  recorded(thread, words.guarded(guardId, guard.until));
}

async function pin(session: Session, given: CommandTarget): Promise<void> {
  const thread = await meant(session, given);
  if (!thread) return;
  const prompt = l10n.t('An instruction to keep verbatim across every compaction');
  const text = await vscode.window.showInputBox({ prompt });
  if (!text?.trim()) return;
  const signal = { kind: 'directive', text, pinned: true } as const;
  await session.ask('rawr/signal/report', { threadId: thread.summary.threadId, signal });
  recorded(thread, l10n.t('Pinned: it is kept verbatim across every compaction.'));
}

async function mark(session: Session, given: CommandTarget): Promise<void> {
  const thread = await meant(session, given);
  if (!thread) return;
  const prompt = l10n.t('Name of the phase that ends here');
  const label = (await vscode.window.showInputBox({ prompt }))?.trim();
  if (!label) return;
  const signal = { kind: 'phase_boundary', label } as const;
  await session.ask('rawr/signal/report', { threadId: thread.summary.threadId, signal });
  recorded(thread, l10n.t('Marked: {0} ends here.', label));
}

/** Answers at once, so that nothing overtakes the answer. A snooze can be extended with a second click. */
async function answerWith(session: Session, surfaces: Surfaces, answer: Partial<Answer>): Promise<void> {
  const { threadId, sequenceId, choice } = answer;
  if (threadId === undefined || choice === undefined) return;
  if (choice === 'edit_packet') {
    if (sequenceId !== undefined) await surfaces.packets.open(threadId, sequenceId);
    return;
  }
  await session.answer(threadId, sequenceId, choice);
  const thread = session.threads.get(threadId);
  if (choice === 'cancel') {
    canceled(session, threadId);
    return;
  }
  if (choice !== 'snooze') {
    vscode.window.setStatusBarMessage(confirmation(thread, words.recorded(choice)), 8_000);
    return;
  }
  const longer = l10n.t('Longer…');
  const snoozed = confirmation(thread, words.recorded('snooze', words.SNOOZE));
  void vscode.window.showInformationMessage(snoozed, longer).then((more) => {
    if (more) void vscode.commands.executeCommand('rawr.guard', { threadId });
  });
}

/** Tells that a compaction is canceled, with the way back. */
function canceled(session: Session, threadId: string): void {
  const thread = session.threads.get(threadId);
  const again = l10n.t('Compact Anyway');
  const told = vscode.window.showInformationMessage(confirmation(thread, words.recorded('cancel')), again);
  void told.then((chosen) => {
    if (chosen !== again) return;
    void shown(async () => {
      await session.answer(threadId, undefined, 'compact_now');
      vscode.window.setStatusBarMessage(confirmation(thread, words.recorded('compact_now')), 8_000);
    });
  });
}

async function showThreads(): Promise<void> {
  await vscode.commands.executeCommand('rawr.threads.focus');
}

async function answer(session: Session, surfaces: Surfaces, given: CommandTarget): Promise<void> {
  if (about(given).threadId === undefined && session.answerable.length === 0) return showThreads();
  const thread = await toAnswer(session, given);
  if (!thread) return;
  const { banner } = thread;
  if (!banner || !isAnswerable(thread)) return showThreads();
  const { sequenceId } = banner.headsUp;
  const choice = await pickAnswer(banner, thread);
  if (choice) await answerWith(session, surfaces, { threadId: banner.threadId, sequenceId, choice });
}

async function compactNow(session: Session, given: CommandTarget): Promise<void> {
  const thread = await meant(session, given);
  if (!thread) return;
  const { threadId } = thread.summary;
  const choice = await session.answer(threadId, thread.sequenceId, 'compact_now');
  recorded(thread, words.recorded(choice));
}

async function respond(session: Session, given: CommandTarget, choice: 'snooze' | 'cancel'): Promise<void> {
  const thread = await toAnswer(session, given);
  if (!thread) return;
  const { threadId } = thread.summary;
  await session.answer(threadId, thread.sequenceId, choice);
  if (choice === 'cancel') canceled(session, threadId);
  else recorded(thread, words.recorded(choice, words.SNOOZE));
}

async function openScratch(session: Session, given: CommandTarget): Promise<void> {
  refuseInDemo();
  const thread = await meant(session, given);
  if (!thread) return;
  const { path, exists } = await session.ask('rawr/scratch/path', { threadId: thread.summary.threadId });
  if (!exists) throw new NothingToDo(l10n.t('The agent has written no notes yet: {0}', path));
  await vscode.window.showTextDocument(vscode.Uri.file(path));
}

const openTranscript =
  (session: Session) =>
  async ({ summary: { threadId } }: Thread): Promise<void> => {
    refuseInDemo();
    const { transcript } = await session.ask('rawr/thread/get', { threadId });
    if (transcript === undefined)
      throw new NothingToDo(l10n.t('The program that runs this agent keeps no transcript.'));
    await vscode.window.showTextDocument(vscode.Uri.file(transcript));
  };

async function openPacket(session: Session, surfaces: Surfaces, given: CommandTarget): Promise<void> {
  const thread = await meant(session, given);
  if (!thread) return;
  const { threadId } = thread.summary;
  const sequenceId = about(given).sequenceId ?? thread.sequenceId ?? (await lastPacket(session, threadId));
  await surfaces.packets.open(threadId, sequenceId);
}

/** The sequence of the latest packet. */
async function lastPacket(session: Session, threadId: string): Promise<string> {
  try {
    return (await session.ask('rawr/packet/get', { threadId })).sequenceId;
  } catch (error) {
    throw isNoSequence(error) ? new NothingToDo(l10n.t('There is no packet yet.')) : error;
  }
}

/** A command that edits what is in the home, which is never the demo's. */
const inOwnHome =
  ({ demo }: Surfaces, work: () => Promise<void>) =>
  async (): Promise<void> => {
    await demo.leave();
    await work();
  };

async function openConfig(session: Session): Promise<void> {
  const sidecar = await session.sidecar();
  const files = configFiles(await sidecar.ask('rawr/config/get', {}));
  const [first, ...others] = files;
  if (first === undefined) {
    const missing = l10n.t('There is no configuration file yet.');
    if (await created(missing, sidecar.binary)) await openConfig(session);
    return;
  }
  const chosen =
    others.length === 0
      ? first
      : await vscode.window.showQuickPick(files, { placeHolder: l10n.t('Which file?') });
  if (chosen !== undefined) await vscode.window.showTextDocument(vscode.Uri.file(chosen));
}

async function copyId({ summary: { threadId } }: Thread): Promise<void> {
  await vscode.env.clipboard.writeText(threadId);
  vscode.window.setStatusBarMessage(l10n.t('Copied: {0}', threadId), 8_000);
}

async function openFolder({ summary: { cwd } }: Thread): Promise<void> {
  refuseInDemo();
  const options = { forceNewWindow: true };
  await vscode.commands.executeCommand('vscode.openFolder', vscode.Uri.file(cwd), options);
}

async function showThreadsOf(which: 'workspace' | 'all'): Promise<void> {
  const all = vscode.workspace.getConfiguration('rawr');
  await all.update('threads', which, vscode.ConfigurationTarget.Global);
}

/** A command's function, with the argument of its menu or link. */
type CommandHandler = (given: never) => Promise<unknown>;

const command = (id: string, work: CommandHandler): vscode.Disposable =>
  vscode.commands.registerCommand(id, (given: never) => shown(() => work(given)));

/** The demo, and what is in the home. */
function homeCommands(session: Session, surfaces: Surfaces): vscode.Disposable[] {
  return [
    command('rawr.showMe', async () => surfaces.demo.start((await session.sidecar()).binary)),
    command('rawr.leaveDemo', () => surfaces.demo.leave()),
    command('rawr.openPreview', (uri?: vscode.Uri) => openPreview(session, uri)),
    command(
      'rawr.openPrompt',
      inOwnHome(surfaces, () => openPrompt(session)),
    ),
    command(
      'rawr.openConfig',
      inOwnHome(surfaces, () => openConfig(session)),
    ),
  ];
}

export function register(session: Session, surfaces: Surfaces): vscode.Disposable {
  const explain = async (given: CommandTarget): Promise<void> => {
    const thread = await meant(session, given);
    if (thread) await surfaces.decisions.show(thread.summary.threadId, about(given).decisionId);
  };
  const clear = async (row: Row): Promise<void> => {
    const { threadId, guardId, directiveId } = row.about;
    if (guardId !== undefined) await session.ask('rawr/guard/clear', { threadId, guardId });
    if (directiveId !== undefined) await session.ask('rawr/directive/clear', { threadId, directiveId });
  };
  const follow = async (given: CommandTarget): Promise<void> => {
    session.chosen = (await meant(session, given))?.summary.threadId;
    session.changed();
  };
  const ofThread =
    (work: (thread: Thread, about: Partial<About>) => Promise<unknown>) =>
    async (given: CommandTarget): Promise<void> => {
      const thread = await meant(session, given);
      if (thread) await work(thread, about(given));
    };
  return vscode.Disposable.from(
    command('rawr.copyThreadId', ofThread(copyId)),
    command('rawr.openFolder', ofThread(openFolder)),
    command(
      'rawr.recall',
      ofThread((thread) => recall(session, thread)),
    ),
    command(
      'rawr.restoreCapsule',
      ofThread((thread, { capsuleId }) => restore(session, thread, capsuleId)),
    ),
    command('rawr.doctor', () => doctor(session)),
    command('rawr.showAllThreads', () => showThreadsOf('all')),
    command('rawr.showWorkspaceThreads', () => showThreadsOf('workspace')),
    command('rawr.answer', (given: CommandTarget) => answer(session, surfaces, given)),
    command('rawr.answerWith', (given: Partial<Answer>) => answerWith(session, surfaces, given)),
    command('rawr.compactNow', (given: CommandTarget) => compactNow(session, given)),
    command('rawr.snooze', (given: CommandTarget) => respond(session, given, 'snooze')),
    command('rawr.cancel', (given: CommandTarget) => respond(session, given, 'cancel')),
    command('rawr.guard', (given: CommandTarget) => guard(session, given)),
    command('rawr.pin', (given: CommandTarget) => pin(session, given)),
    command('rawr.mark', (given: CommandTarget) => mark(session, given)),
    command('rawr.clear', clear),
    command('rawr.follow', follow),
    command('rawr.openScratch', (given: CommandTarget) => openScratch(session, given)),
    command('rawr.openTranscript', ofThread(openTranscript(session))),
    command('rawr.openPacket', (given: CommandTarget) => openPacket(session, surfaces, given)),
    command('rawr.handOver', (uri?: vscode.Uri) => surfaces.packets.handOver(uri)),
    command('rawr.discardPacket', (uri?: vscode.Uri) => surfaces.packets.discard(uri)),
    command('rawr.savePacketAs', (uri?: vscode.Uri) => surfaces.packets.saveAs(uri)),
    command('rawr.explain', explain),
    ...homeCommands(session, surfaces),
  );
}
