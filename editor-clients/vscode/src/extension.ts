// Activation: creates the surfaces and starts the sidecar.
import * as l10n from '@vscode/l10n';
import * as vscode from 'vscode';
import { type Surfaces, register } from './commands';
import { PacketTexts } from './model/packetTexts';
import { status } from './model/status';
import { Threads } from './model/threads';
import type { Channels, Connection } from './server/connection';
import { DraftFolder } from './server/draftFolder';
import { type Listener, Supervisor } from './server/supervisor';
import { offerInTerminals } from './server/terminals';
import { Session, shown } from './session';
import { OF_THE_SERVER, folders, settings } from './settings';
import { DecisionView } from './surface/decisionView';
import { Demo } from './surface/demo';
import { highlight } from './surface/highlighting';
import { Notices } from './surface/notices';
import { PacketEditor } from './surface/packetEditor';
import { StatusBar } from './surface/statusBar';
import { ThreadsView } from './surface/tree';
import { Watch } from './watch';

let supervisor: Supervisor | undefined;

export function activate(context: vscode.ExtensionContext): void {
  if (vscode.l10n.bundle) l10n.config({ contents: vscode.l10n.bundle });
  const channels = openChannels(context);
  const threads = new Threads();
  const [bar, notices, view] = [new StatusBar(), new Notices(), new ThreadsView(threads)];
  const draw = (): void => {
    bar.show(status(session.active, Date.now()));
    notices.update(threads);
    view.refresh();
    surfaces.packets.refresh();
  };
  const session = new Session(threads, draw);
  const drafts = vscode.Uri.joinPath(context.storageUri ?? context.globalStorageUri, 'drafts');
  const packets = new PacketEditor(session, new PacketTexts(new DraftFolder(drafts.fsPath)));
  const decisions = new DecisionView(session, context.workspaceState);
  const surfaces = { packets, decisions, demo: new Demo() };
  const watching = new Watching(session, notices, surfaces, channels, context);
  const started = new Supervisor(context, channels, watching);
  supervisor = started;
  context.subscriptions.push(bar, notices, view, packets, decisions, surfaces.demo, started, watching);
  context.subscriptions.push(register(session, surfaces), decisions.register(), highlight());
  context.subscriptions.push(...upkeep(started, watching, channels));
  void shown(() => started.restart());
}

export async function deactivate(): Promise<void> {
  await supervisor?.stop();
}

function openChannels(context: vscode.ExtensionContext): Channels {
  const log = vscode.window.createOutputChannel('rawr', { log: true });
  context.subscriptions.push(log);
  let trace: vscode.LogOutputChannel | undefined;
  return {
    log,
    trace: () => {
      if (!trace) {
        trace = vscode.window.createOutputChannel('rawr trace', { log: true });
        context.subscriptions.push(trace);
      }
      return trace;
    },
  };
}

/** Restores the watched threads after a restart of the sidecar, and clears the surfaces when it ends. */
class Watching implements Listener, vscode.Disposable {
  private watch: Watch | undefined;

  constructor(
    private readonly session: Session,
    private readonly notices: Notices,
    private readonly surfaces: Surfaces,
    private readonly channels: Channels,
    private readonly context: vscode.ExtensionContext,
  ) {}

  async up(connection: Connection): Promise<void> {
    const { session, notices, surfaces, channels } = this;
    session.connection = connection;
    offerInTerminals(this.context, connection.binary);
    this.watch = new Watch(connection, session.threads, {
      folders: settings().threads === 'all' ? [] : folders(),
      now: () => Date.now(),
      changed: session.changed,
      told: {
        'rawr/compaction/update': (news) => notices.compacted(news),
        'rawr/sequence/responded': (news) => notices.responded(news),
        'rawr/packet/changed': (news) => surfaces.packets.changed(news),
        'rawr/decision/recorded': ({ threadId }) => void shown(() => surfaces.decisions.refresh(threadId)),
      },
      failed: (what, why) => channels.log.warn(`${what}: ${why}`),
    });
    await this.watch.begin();
    void shown(() => surfaces.decisions.refresh());
  }

  down(): void {
    this.watch?.dispose();
    this.watch = undefined;
    this.session.connection = undefined;
    this.session.threads.forget();
    this.session.changed();
  }

  async refresh(): Promise<void> {
    await this.watch?.refresh();
  }

  /** The workspace folders changed. */
  async again(): Promise<void> {
    const { connection } = this.session;
    if (!connection) return;
    await this.watch?.end();
    await this.up(connection);
  }

  dispose(): void {
    this.watch?.dispose();
  }
}

function upkeep(started: Supervisor, watching: Watching, channels: Channels): vscode.Disposable[] {
  const { workspace, commands } = vscode;
  const restart = (): void => void shown(() => started.restart());
  return [
    commands.registerCommand('rawr.restart', restart),
    commands.registerCommand('rawr.refresh', () => shown(() => watching.refresh())),
    commands.registerCommand('rawr.showLog', () => channels.log.show()),
    commands.registerCommand('rawr.showTrace', () => channels.trace().show()),
    workspace.onDidGrantWorkspaceTrust(restart),
    workspace.onDidChangeWorkspaceFolders(() => void shown(() => watching.again())),
    workspace.onDidChangeConfiguration((event) => {
      if (OF_THE_SERVER.some((key) => event.affectsConfiguration(key))) restart();
      else if (event.affectsConfiguration('rawr')) void shown(() => watching.again());
    }),
  ];
}
