// Packets as documents: `rawr-packet:/<thread>/<sequence>/packet.md`. Saving one only stores a draft, because editors also save
// automatically; a command delivers it. A draft must not replace a packet that was written later.
import * as l10n from '@vscode/l10n';
import * as vscode from 'vscode';
import { type PacketState, isOver, packetLine, packetState } from '../model/packet';
import type { PacketName, PacketText, PacketTexts } from '../model/packetTexts';
import type { PacketChangedNotification } from '../protocol';
import { type Session, shown } from '../session';

export const SCHEME = 'rawr-packet';
/** The delay of lens changes, so that a slow editor can load the lenses between two changes. */
const TICK_MS = 5_000;

interface Shown {
  /** The text as last shown. */
  state: PacketState;
  mtime: number;
}

function uriOf({ threadId, sequenceId }: PacketName): vscode.Uri {
  return vscode.Uri.from({
    scheme: SCHEME,
    path: `/${[threadId, sequenceId].map(encodeURIComponent).join('/')}/packet.md`,
  });
}

function nameOf(uri: vscode.Uri): PacketName {
  const [, threadId = '', sequenceId = ''] = uri.path.split('/').map(decodeURIComponent);
  return { threadId, sequenceId };
}

export class PacketEditor implements vscode.FileSystemProvider, vscode.CodeLensProvider, vscode.Disposable {
  private readonly versions = new Map<string, Shown>();
  private readonly fileChanged = new vscode.EventEmitter<vscode.FileChangeEvent[]>();
  readonly onDidChangeFile = this.fileChanged.event;
  private readonly lensChanged = new vscode.EventEmitter<void>();
  readonly onDidChangeCodeLenses = this.lensChanged.event;
  private readonly timer: NodeJS.Timeout;
  private readonly registered: vscode.Disposable;

  constructor(
    private readonly session: Session,
    private readonly texts: PacketTexts,
  ) {
    this.registered = vscode.Disposable.from(
      vscode.workspace.registerFileSystemProvider(SCHEME, this, { isCaseSensitive: true }),
      vscode.languages.registerCodeLensProvider({ scheme: SCHEME }, this),
    );
    this.timer = setInterval(() => this.tick(), TICK_MS);
  }

  /** The current packet; if there is none yet, the one that rawr would write. */
  async open(threadId: string, sequenceId: string): Promise<void> {
    const name = { threadId, sequenceId };
    if (this.texts.get(name)) await this.takeUp(name);
    else await this.load(name);
    const document = await vscode.workspace.openTextDocument(uriOf(name));
    await vscode.window.showTextDocument(document, { preview: false });
  }

  private async load(name: PacketName): Promise<void> {
    try {
      this.texts.written(name, (await this.session.ask('rawr/packet/get', name)).packet);
    } catch (error) {
      if (this.state(name) === 'past') throw error;
      const { threadId } = name;
      const { packet } = await this.session.ask('rawr/packet/build', { threadId, author: 'watcher' });
      this.texts.built(name, packet);
    }
    this.show(name);
  }

  /** Shows the sequence's packet if it is newer than the text here. Returns whether it is. */
  private async takeUp(name: PacketName): Promise<boolean> {
    const packet = await this.session.ask('rawr/packet/get', name).then(
      (answer) => answer.packet,
      () => undefined,
    );
    const draft = this.texts.draft(name);
    if (packet === undefined || !this.texts.written(name, packet)) return false;
    this.show(name);
    if (draft && this.state(name) === 'editable') void this.offer(draft);
    return true;
  }

  private async offer(draft: PacketName & PacketText): Promise<void> {
    const back = l10n.t('Back to My Draft');
    const said = l10n.t('A newer packet was written and replaces your draft.');
    if ((await vscode.window.showInformationMessage(said, back)) !== back) return;
    this.texts.edited(draft, draft.text);
    this.show(draft);
  }

  private show(name: PacketName): void {
    const uri = uriOf(name);
    this.versions.set(uri.toString(), { state: this.state(name), mtime: Date.now() });
    this.fileChanged.fire([{ type: vscode.FileChangeType.Changed, uri }]);
  }

  private tick(): void {
    if (this.shown().length > 0) this.lensChanged.fire();
  }

  private shown(): vscode.Uri[] {
    const uris = vscode.window.visibleTextEditors.map(({ document }) => document.uri);
    return uris.filter(({ scheme }) => scheme === SCHEME);
  }

  private state({ threadId, sequenceId }: PacketName): PacketState {
    return packetState(this.session.threads.get(threadId), sequenceId);
  }

  /** Updates after a change: a packet may be past, or another one may have been written. */
  refresh(): void {
    for (const draft of this.texts.drafts)
      if (isOver(this.session.threads.get(draft.threadId), draft.sequenceId)) this.texts.drop(draft);
    for (const uri of this.shown()) {
      const name = nameOf(uri);
      if (!this.texts.get(name) || this.version(uri).state === this.state(name)) continue;
      this.show(name);
      this.lensChanged.fire();
      void shown(() => this.takeUp(name));
    }
  }

  /** The sequence has another packet: updates a shown document at once. */
  changed({ threadId, sequenceId, change }: PacketChangedNotification): void {
    const name = { threadId, sequenceId };
    const uri = uriOf(name).toString();
    if (change === 'outdated' || !this.texts.get(name)) return;
    if (this.shown().some((one) => one.toString() === uri)) void shown(() => this.takeUp(name));
  }

  provideCodeLenses(document: vscode.TextDocument): vscode.CodeLens[] {
    const { threadId, sequenceId } = nameOf(document.uri);
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
    const { mtime } = this.version(uri);
    const permissions = this.state(nameOf(uri)) === 'past' ? vscode.FilePermission.Readonly : undefined;
    const size = Buffer.byteLength(this.text(uri));
    return { type: vscode.FileType.File, ctime: mtime, mtime, size, permissions };
  }

  readFile(uri: vscode.Uri): Uint8Array {
    return new TextEncoder().encode(this.text(uri));
  }

  writeFile(uri: vscode.Uri, content: Uint8Array): void {
    this.texts.edited(nameOf(uri), new TextDecoder().decode(content));
    this.show(nameOf(uri));
  }

  /** Answers the banner with the packet in the editor. */
  async handOver(uri: vscode.Uri | undefined): Promise<void> {
    const meant = uri ?? vscode.window.activeTextEditor?.document.uri;
    if (meant?.scheme !== SCHEME) throw new Error(l10n.t('Open a packet first.'));
    const name = nameOf(meant);
    const { threadId, sequenceId } = name;
    if (this.state(name) !== 'editable')
      throw new Error(packetLine(this.session.threads.get(threadId), sequenceId, Date.now()));
    if (await this.takeUp(name))
      throw new Error(l10n.t('A newer packet was written; review it before you hand it over.'));
    const document = await vscode.workspace.openTextDocument(meant);
    if (document.isDirty && !(await document.save()))
      throw new Error(l10n.t('The packet was not handed over because it could not be saved.'));
    await this.session.handOver(threadId, sequenceId, document.getText());
    this.texts.drop(name);
    this.refresh();
  }

  /** A reloaded window only has drafts. */
  private text(uri: vscode.Uri): string {
    const known = this.texts.get(nameOf(uri));
    if (!known) throw vscode.FileSystemError.FileNotFound(uri);
    return known.text;
  }

  private version(uri: vscode.Uri): Shown {
    const known = this.versions.get(uri.toString());
    if (known) return known;
    const first: Shown = { state: this.state(nameOf(uri)), mtime: Date.now() };
    this.versions.set(uri.toString(), first);
    return first;
  }

  watch(): vscode.Disposable {
    return new vscode.Disposable(() => undefined);
  }

  readDirectory(): [string, vscode.FileType][] {
    return [];
  }

  createDirectory(): void {
    throw vscode.FileSystemError.NoPermissions(l10n.t('Only packets can be written here.'));
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
