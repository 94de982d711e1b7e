// Everything that the extension does in a window: creates the surfaces and starts the sidecar.
import * as l10n from '@vscode/l10n';
import * as vscode from 'vscode';
import type { Api } from './api';
import { type Surfaces, register } from './commands';
import { apiThreads } from './model/api';
import { PacketTexts } from './model/packetTexts';
import { type Status, failed, status } from './model/status';
import { Threads, runs } from './model/threads';
import type { Channels, Connection } from './server/connection';
import { DraftFolder } from './server/draftFolder';
import { type ServerState, type SupervisorHost, Supervisor } from './server/supervisor';
import { find } from './server/binary';
import { places, system } from './server/system';
import { offerInTerminals } from './server/terminals';
import { Session, shown } from './session';
import { OF_THE_SERVER, folders, settings, showsDemo } from './settings';
import { setContexts } from './surface/contexts';
import { copyDebugInformation } from './surface/debugInformation';
import { DeadlineRedraw } from './surface/deadlineRedraw';
import { DecisionView } from './surface/decisionView';
import { Demo } from './surface/demo';
import { highlight } from './surface/highlighting';
import { Notices } from './surface/notices';
import { ServerNotice } from './surface/serverNotice';
import { PacketEditor } from './surface/packetEditor';
import { StatusBar } from './surface/statusBar';
import { ThreadsView } from './surface/tree';
import type { ThreadsTree } from './threadsTree';
import { translate } from './translate';
import { Watch } from './watch';

const KEEP_DRAFTS_MS = 14 * 24 * 60 * 60 * 1000;

export interface ExtensionWindow {
  stop(): Promise<void>;
}

export function open(context: vscode.ExtensionContext, api: Api, tree: ThreadsTree): ExtensionWindow {
  translate();
  const channels = openChannels(context);
  const threads = new Threads();
  const [bar, notices, view] = [new StatusBar(), new Notices(), new ThreadsView(threads, tree)];
  const draw = (): void => {
    bar.show(barStatus(session));
    notices.update(threads);
    view.refresh();
    surfaces.packets.refresh();
    setContexts(threads);
    api.refresh(apiThreads(threads));
    redraw.schedule(threads.banners);
  };
  const redraw = new DeadlineRedraw(draw);
  const session = new Session(threads, draw);
  const packets = new PacketEditor(session, new PacketTexts(openDrafts(context)));
  const surfaces = {
    packets,
    decisions: new DecisionView(session, context.workspaceState, channels.log),
    demo: new Demo(),
  };
  const watching = new Watching(session, notices, surfaces, channels, context);
  const notice = new ServerNotice(context, channels.log);
  const stateChanged = (state: ServerState): void => {
    session.failure = unavailable(state);
    notice.show(state);
    session.changed();
  };
  const started = new Supervisor(host(context, channels, watching, stateChanged));
  context.subscriptions.push(bar, ...Object.values(surfaces), started, watching, redraw);
  context.subscriptions.push(register(session, surfaces), surfaces.decisions.register(), highlight());
  context.subscriptions.push(...upkeep(started, context, watching, channels, session));
  void shown(() => started.restart());
  return started;
}

/** Why there is no sidecar and none will come by itself. */
function unavailable(state: ServerState): string | undefined {
  if (state.kind === 'stopped') return l10n.t('The rawr sidecar is stopped.');
  return state.kind === 'failed' ? state.why : undefined;
}

/** The drafts of this workspace, without old ones. */
function openDrafts(context: vscode.ExtensionContext): DraftFolder {
  const { fsPath } = vscode.Uri.joinPath(context.storageUri ?? context.globalStorageUri, 'drafts');
  const drafts = new DraftFolder(fsPath);
  drafts.removeOlderThan(Date.now() - KEEP_DRAFTS_MS);
  return drafts;
}

function barStatus(session: Session): Status | undefined {
  if (session.failure !== undefined) return failed(session.failure);
  return status(session.active, session.threads.all.filter(runs).length, Date.now(), showsDemo());
}

function host(
  context: vscode.ExtensionContext,
  channels: Channels,
  watching: Watching,
  stateChanged: (state: ServerState) => void,
): SupervisorHost<Connection> {
  return {
    log: channels.log,
    find: () => find(places(context), system),
    create: async (binary, closed) => {
      // Loaded lazily, because the language client is most of the code.
      const { Connection } = await import('./server/connection');
      return new Connection(binary, settings(), channels, closed);
    },
    up: (connection) => watching.up(connection),
    down: () => watching.down(),
    stateChanged,
  };
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
class Watching implements vscode.Disposable {
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
        'rawr/decision/recorded': ({ threadId }) => void surfaces.decisions.refresh(threadId),
      },
      failed: (what, why) => channels.log.warn(`${what}: ${why}`),
    });
    await this.watch.begin();
    void surfaces.decisions.refresh();
  }

  down(): void {
    this.watch?.dispose();
    this.watch = undefined;
    this.session.connection = undefined;
    this.session.threads.forget();
    this.session.changed();
  }

  async refresh(): Promise<void> {
    await this.session.sidecar();
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

function upkeep(
  started: Supervisor<Connection>,
  context: vscode.ExtensionContext,
  watching: Watching,
  channels: Channels,
  session: Session,
): vscode.Disposable[] {
  const { workspace, commands } = vscode;
  const restart = (): Promise<void> => shown(() => started.restart());
  return [
    commands.registerCommand('rawr.restart', restart),
    commands.registerCommand('rawr.start', restart),
    commands.registerCommand('rawr.stop', () => shown(() => started.stop())),
    commands.registerCommand('rawr.copyDebugInformation', () =>
      shown(() => copyDebugInformation(session, context)),
    ),
    commands.registerCommand('rawr.refresh', () => shown(() => watching.refresh())),
    commands.registerCommand('rawr.howToInstall', () => {
      const page = vscode.Uri.joinPath(context.extensionUri, 'media', 'install.md');
      return commands.executeCommand('markdown.showPreview', page);
    }),
    commands.registerCommand('rawr.showLog', () => channels.log.show()),
    commands.registerCommand('rawr.showTrace', () => channels.trace().show()),
    workspace.onDidGrantWorkspaceTrust(() => void restart()),
    workspace.onDidChangeWorkspaceFolders(() => void shown(() => watching.again())),
    workspace.onDidChangeConfiguration((event) => {
      if (OF_THE_SERVER.some((key) => event.affectsConfiguration(key))) void restart();
      else if (event.affectsConfiguration('rawr')) void shown(() => watching.again());
    }),
  ];
}
