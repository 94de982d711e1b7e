// Packets as documents: `rawr-packet:/<thread>/<sequence>/packet.md`. Saving one only keeps it, because an editor saves on
// its own, too; handing it over is a command.
import * as l10n from '@vscode/l10n';
import * as vscode from 'vscode';
import { type PacketState, packetLine, packetState } from '../model/packet';
import type { Session } from '../session';

export const SCHEME = 'rawr-packet';
/** An editor that asks for lenses slowly must come to an answer between two changes. */
const TICK_MS = 5_000;

interface Packet {
  text: Uint8Array;
  /** As it was last shown. */
  state: PacketState;
  mtime: number;
}

function uriOf(threadId: string, sequenceId: string): vscode.Uri {
  return vscode.Uri.from({
    scheme: SCHEME,
    path: `/${[threadId, sequenceId].map(encodeURIComponent).join('/')}/packet.md`,
  });
}

function namesOf(uri: vscode.Uri): { threadId: string; sequenceId: string } {
  const [, threadId = '', sequenceId = ''] = uri.path.split('/').map(decodeURIComponent);
  return { threadId, sequenceId };
}

export class PacketEditor implements vscode.FileSystemProvider, vscode.CodeLensProvider, vscode.Disposable {
  private readonly packets = new Map<string, Packet>();
  private readonly fileChanged = new vscode.EventEmitter<vscode.FileChangeEvent[]>();
  readonly onDidChangeFile = this.fileChanged.event;
  private readonly lensChanged = new vscode.EventEmitter<void>();
  readonly onDidChangeCodeLenses = this.lensChanged.event;
  private readonly timer: NodeJS.Timeout;
  private readonly registered: vscode.Disposable;

  constructor(private readonly session: Session) {
    this.registered = vscode.Disposable.from(
      vscode.workspace.registerFileSystemProvider(SCHEME, this, { isCaseSensitive: true }),
      vscode.languages.registerCodeLensProvider({ scheme: SCHEME }, this),
    );
    this.timer = setInterval(() => this.tick(), TICK_MS);
  }

  /** The packet as it stands; where there is none yet, the one that rawr would write. */
  async open(threadId: string, sequenceId: string): Promise<void> {
    const uri = uriOf(threadId, sequenceId);
    if (
      !this.packets.has(uri.toString()) ||
      packetState(this.session.threads.get(threadId), sequenceId) === 'past'
    ) {
      this.put(uri, await this.text(threadId, sequenceId));
    }
    const document = await vscode.workspace.openTextDocument(uri);
    await vscode.window.showTextDocument(document, { preview: false });
  }

  private async text(threadId: string, sequenceId: string): Promise<string> {
    try {
      return (await this.session.ask('rawr/packet/get', { threadId, sequenceId })).packet;
    } catch (error) {
      if (packetState(this.session.threads.get(threadId), sequenceId) === 'past') throw error;
    }
    return (await this.session.ask('rawr/packet/build', { threadId, author: 'watcher' })).packet;
  }

  private put(uri: vscode.Uri, text: string): void {
    this.packets.set(uri.toString(), {
      text: new TextEncoder().encode(text),
      state: this.state(uri),
      mtime: Date.now(),
    });
    this.fileChanged.fire([{ type: vscode.FileChangeType.Changed, uri }]);
  }

  private tick(): void {
    if (this.shown().length > 0) this.lensChanged.fire();
  }

  private shown(): vscode.Uri[] {
    const uris = vscode.window.visibleTextEditors.map(({ document }) => document.uri);
    return uris.filter(({ scheme }) => scheme === SCHEME);
  }

  private state(uri: vscode.Uri): PacketState {
    const { threadId, sequenceId } = namesOf(uri);
    return packetState(this.session.threads.get(threadId), sequenceId);
  }

  /** Something may have changed: a packet that was editable may be past. */
  refresh(): void {
    for (const uri of this.shown()) {
      const packet = this.packets.get(uri.toString());
      const state = this.state(uri);
      if (!packet || packet.state === state) continue;
      packet.state = state;
      this.fileChanged.fire([{ type: vscode.FileChangeType.Changed, uri }]);
      this.lensChanged.fire();
    }
  }

  provideCodeLenses(document: vscode.TextDocument): vscode.CodeLens[] {
    const { threadId, sequenceId } = namesOf(document.uri);
    const thread = this.session.threads.get(threadId);
    const first = new vscode.Range(0, 0, 0, 0);
    const lenses = [
      new vscode.CodeLens(first, { title: packetLine(thread, sequenceId, Date.now()), command: '' }),
    ];
    if (packetState(thread, sequenceId) === 'editable') {
      const about = { threadId, sequenceId };
      lenses.unshift(
        new vscode.CodeLens(first, {
          title: l10n.t('Hand Over to the Agent'),
          command: 'rawr.handOver',
          arguments: [document.uri],
        }),
      );
      lenses.push(
        new vscode.CodeLens(first, {
          title: l10n.t('Other answers…'),
          command: 'rawr.answer',
          arguments: [about],
        }),
      );
    }
    return lenses;
  }

  stat(uri: vscode.Uri): vscode.FileStat {
    const { text, mtime } = this.packet(uri);
    const permissions = this.state(uri) === 'past' ? vscode.FilePermission.Readonly : undefined;
    return { type: vscode.FileType.File, ctime: mtime, mtime, size: text.length, permissions };
  }

  readFile(uri: vscode.Uri): Uint8Array {
    return this.packet(uri).text;
  }

  writeFile(uri: vscode.Uri, content: Uint8Array): void {
    this.packets.set(uri.toString(), { ...this.packet(uri), text: content, mtime: Date.now() });
    this.fileChanged.fire([{ type: vscode.FileChangeType.Changed, uri }]);
  }

  /** Answers the banner with the packet as it stands in the editor. */
  async handOver(uri: vscode.Uri | undefined): Promise<void> {
    const shown = uri ?? vscode.window.activeTextEditor?.document.uri;
    if (shown?.scheme !== SCHEME) throw new Error(l10n.t('Open a packet first, then hand it over.'));
    const { threadId, sequenceId } = namesOf(shown);
    if (this.state(shown) !== 'editable')
      throw new Error(packetLine(this.session.threads.get(threadId), sequenceId, Date.now()));
    const document = await vscode.workspace.openTextDocument(shown);
    await document.save();
    await this.session.handOver(threadId, sequenceId, document.getText());
    this.refresh();
  }

  /** A window that was reloaded asks for packets that nobody has opened in it. */
  private packet(uri: vscode.Uri): Packet {
    const packet = this.packets.get(uri.toString());
    if (!packet) throw vscode.FileSystemError.FileNotFound(uri);
    return packet;
  }

  watch(): vscode.Disposable {
    return new vscode.Disposable(() => undefined);
  }

  readDirectory(): [string, vscode.FileType][] {
    return [];
  }

  createDirectory(): void {
    throw vscode.FileSystemError.NoPermissions(l10n.t('Here are only packets.'));
  }

  delete(uri: vscode.Uri): void {
    throw vscode.FileSystemError.NoPermissions(uri);
  }

  rename(uri: vscode.Uri): void {
    throw vscode.FileSystemError.NoPermissions(uri);
  }

  dispose(): void {
    clearInterval(this.timer);
    this.registered.dispose();
    this.fileChanged.dispose();
    this.lensChanged.dispose();
  }
}
