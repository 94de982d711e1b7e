// Packets as documents: `rawr-packet:/<thread>/<sequence>/packet.md`. Saving one only stores a draft, because editors also save
// automatically; a command delivers it. A draft must not replace a packet that was written later.
import * as l10n from '@vscode/l10n';
import * as vscode from 'vscode';
import { type PacketState, packetLine, packetState } from '../model/packet';
import type { PacketName, PacketText, PacketTexts } from '../model/packetTexts';
import type { PacketChangedNotification } from '../protocol';
import { NothingToDo, type Session, shown } from '../session';
import { isNoSequence } from '../sidecar';
import { packetLenses } from './packetLenses';

export const SCHEME = 'rawr-packet';
/** The delay of lens changes, so that a slow editor can load the lenses between two changes. */
const TICK_MS = 5_000;

interface PacketVersion {
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

function isPacket(uri: vscode.Uri): boolean {
  return uri.path.endsWith('/packet.md');
}

function tabsOf(packet: vscode.Uri): vscode.Tab[] {
  const tabs = vscode.window.tabGroups.all.flatMap((group) => group.tabs);
  return tabs.filter(
    ({ input }) => input instanceof vscode.TabInputText && input.uri.toString() === packet.toString(),
  );
}

/** The packet of a menu, else the one in the active editor. */
function packetIn(uri: vscode.Uri | undefined): vscode.Uri {
  const packet = uri ?? vscode.window.activeTextEditor?.document.uri;
  if (packet?.scheme !== SCHEME) throw new NothingToDo(l10n.t('Open a packet first.'));
  return packet;
}

export class PacketEditor implements vscode.FileSystemProvider, vscode.CodeLensProvider, vscode.Disposable {
  private readonly versions = new Map<string, PacketVersion>();
  private readonly fileChanged = new vscode.EventEmitter<vscode.FileChangeEvent[]>();
  readonly onDidChangeFile = this.fileChanged.event;
  private readonly lensChanged = new vscode.EventEmitter<void>();
  readonly onDidChangeCodeLenses = this.lensChanged.event;
  /** Runs while a packet is visible. */
  private timer: NodeJS.Timeout | undefined;
  private readonly registered: vscode.Disposable;

  constructor(
    private readonly session: Session,
    private readonly texts: PacketTexts,
  ) {
    this.registered = vscode.Disposable.from(
      vscode.workspace.registerFileSystemProvider(SCHEME, this, { isCaseSensitive: true }),
      vscode.languages.registerCodeLensProvider({ scheme: SCHEME }, this),
      vscode.window.onDidChangeVisibleTextEditors(() => this.tick()),
    );
    this.tick();
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
      if (isNoSequence(error) && !this.isAhead(name))
        throw new NothingToDo(l10n.t('There is no packet yet.'));
      if (!this.isAhead(name)) throw error;
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
    this.changedAt(name, Date.now());
  }

  /** With the time of the old text, a changed permission does not conflict with unsaved changes. */
  private changedAt(name: PacketName, mtime: number): void {
    const uri = uriOf(name);
    this.versions.set(uri.toString(), { state: this.state(name), mtime });
    this.fileChanged.fire([{ type: vscode.FileChangeType.Changed, uri }]);
  }

  private tick(): void {
    clearTimeout(this.timer);
    if (this.shown().length === 0) return;
    this.lensChanged.fire();
    this.timer = setTimeout(() => this.tick(), TICK_MS);
  }

  private shown(): vscode.Uri[] {
    const uris = vscode.window.visibleTextEditors.map(({ document }) => document.uri);
    return uris.filter(({ scheme }) => scheme === SCHEME);
  }

  private state(name: PacketName): PacketState {
    return packetState(this.session.threads.get(name.threadId), name.sequenceId, this.isEdited(name));
  }

  private isAhead(name: PacketName): boolean {
    return ['editable', 'handed'].includes(this.state(name));
  }

  /** Whether the user's text would be lost, stored or not. */
  private isEdited(name: PacketName): boolean {
    const uri = uriOf(name).toString();
    const open = vscode.workspace.textDocuments.find((document) => document.uri.toString() === uri);
    return open?.isDirty === true || this.texts.draft(name) !== undefined;
  }

  /** Updates after a change: a packet may be past, or another one may have been written. */
  refresh(): void {
    for (const uri of this.shown()) {
      const name = nameOf(uri);
      const { state, mtime } = this.version(uri);
      if (!this.texts.get(name) || state === this.state(name)) continue;
      this.changedAt(name, mtime);
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

  provideCodeLenses({ uri }: vscode.TextDocument): vscode.CodeLens[] {
    const name = nameOf(uri);
    const thread = this.session.threads.get(name.threadId);
    return packetLenses({ uri, name, state: this.state(name), thread });
  }

  stat(uri: vscode.Uri): vscode.FileStat {
    if (!isPacket(uri)) return { type: vscode.FileType.Directory, ctime: 0, mtime: 0, size: 0 };
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
    const edited = packetIn(uri);
    const name = nameOf(edited);
    const { threadId, sequenceId } = name;
    const state = this.state(name);
    if (state !== 'editable')
      throw new NothingToDo(packetLine(state, this.session.threads.get(threadId), Date.now()));
    if (await this.takeUp(name))
      throw new NothingToDo(l10n.t('A newer packet was written; review it before you hand it over.'));
    const document = await vscode.workspace.openTextDocument(edited);
    if (document.isDirty && !(await document.save()))
      throw new Error(l10n.t('The packet was not handed over because it could not be saved.'));
    const packet = document.getText();
    await this.session.respond({ threadId, sequenceId, choice: 'edit_packet', packet });
    this.texts.drop(name);
    this.refresh();
  }

  /** Closes the editor without an answer. The draft is removed, so that the next editor shows the sequence's packet. */
  async discard(uri: vscode.Uri | undefined): Promise<void> {
    const packet = packetIn(uri);
    const document = await vscode.workspace.openTextDocument(packet);
    if (document.isDirty) await this.revertAndClose(packet);
    else if (await vscode.window.tabGroups.close(tabsOf(packet))) this.texts.forget(nameOf(packet));
  }

  /** Only the active editor can be reverted, and while it is shown the user may go to another, whose changes would be lost. */
  private async revertAndClose(packet: vscode.Uri): Promise<void> {
    await vscode.window.showTextDocument(packet);
    if (vscode.window.activeTextEditor?.document.uri.toString() !== packet.toString())
      throw new NothingToDo(l10n.t('The packet was not closed because another editor is active.'));
    this.texts.forget(nameOf(packet));
    await vscode.commands.executeCommand('workbench.action.revertAndCloseActiveEditor');
  }

  /** Saves a packet that was not handed over as a file, and closes it. */
  async saveAs(uri: vscode.Uri | undefined): Promise<void> {
    const packet = packetIn(uri);
    const text = (await vscode.workspace.openTextDocument(packet)).getText();
    const target = await vscode.window.showSaveDialog({ filters: { Markdown: ['md'] } });
    if (!target) return;
    await vscode.workspace.fs.writeFile(target, new TextEncoder().encode(text));
    await this.discard(packet);
    await vscode.window.showTextDocument(target);
  }

  /** A reloaded window only has drafts. */
  private text(uri: vscode.Uri): string {
    const known = this.texts.get(nameOf(uri));
    if (!known) throw vscode.FileSystemError.FileNotFound(uri);
    return known.text;
  }

  private version(uri: vscode.Uri): PacketVersion {
    const known = this.versions.get(uri.toString());
    if (known) return known;
    const first: PacketVersion = { state: this.state(nameOf(uri)), mtime: Date.now() };
    this.versions.set(uri.toString(), first);
    return first;
  }

  watch(): vscode.Disposable {
    return new vscode.Disposable(() => undefined);
  }

  readDirectory(): [string, vscode.FileType][] {
    return [];
  }

  /** An editor creates the folders of a file that it does not find, such as a packet that is restored unsaved. */
  createDirectory(): void {}

  delete(uri: vscode.Uri): void {
    throw vscode.FileSystemError.NoPermissions(uri);
  }

  rename(uri: vscode.Uri): void {
    throw vscode.FileSystemError.NoPermissions(uri);
  }

  dispose(): void {
    clearTimeout(this.timer);
    this.registered.dispose();
    this.fileChanged.dispose();
    this.lensChanged.dispose();
  }
}
