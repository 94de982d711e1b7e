// Activation. Everything else is loaded once something of rawr's is there or asked for: most windows never need it.
import { homedir } from 'node:os';
import * as vscode from 'vscode';
import { Api, type RawrApi } from './api';
import { isOurs } from './documents';
import { FolderWatch } from './server/folderWatch';
import { possibleHomes } from './server/homes';
import { offerInTerminals } from './server/terminals';
import { settings } from './settings';
import { translate } from './translate';
import { ThreadsTree } from './threadsTree';
import type { ExtensionWindow } from './window';

let extension: Extension | undefined;

export function activate(context: vscode.ExtensionContext): RawrApi {
  extension = new Extension(context);
  context.subscriptions.push(extension);
  extension.begin();
  return extension.api.exports;
}

export async function deactivate(): Promise<void> {
  await extension?.stop();
}

class Extension implements vscode.Disposable {
  readonly api = new Api();
  private readonly tree = new ThreadsTree(() => this.open());
  /** What waits for the first need of the rest. */
  private waiting: vscode.Disposable | undefined;
  private window: ExtensionWindow | undefined;

  constructor(private readonly context: vscode.ExtensionContext) {}

  begin(): void {
    const { home, path } = settings();
    const homes = possibleHomes(home, process.env, homedir());
    const folders = new FolderWatch(homes, () => this.open());
    const { textDocuments } = vscode.workspace;
    if (path !== '' || folders.found || textDocuments.some((one) => isOurs(one, homes)) || hasOurTab()) {
      this.open();
      return;
    }
    translate();
    offerInTerminals(this.context, { origin: 'path' });
    this.waiting = vscode.Disposable.from(folders, ...this.needs(homes));
    folders.begin();
  }

  async stop(): Promise<void> {
    await this.window?.stop();
  }

  dispose(): void {
    this.waiting?.dispose();
    this.tree.dispose();
    this.api.dispose();
  }

  /** At once, so that a restored tab or a command that activates the extension finds what is registered for it. */
  private open(): void {
    if (this.window) return;
    // eslint-disable-next-line @typescript-eslint/no-require-imports -- an import would be asynchronous
    const { open } = require('./window') as typeof import('./window');
    this.waiting?.dispose();
    this.waiting = undefined;
    this.window = open(this.context, this.api, this.tree);
  }

  private needs(homes: readonly string[]): vscode.Disposable[] {
    const { commands, workspace } = vscode;
    return [
      ...contributedCommands(this.context).map((id) => commands.registerCommand(id, this.afterwards(id))),
      workspace.onDidOpenTextDocument((document) => {
        if (isOurs(document, homes)) this.open();
      }),
      workspace.onDidChangeConfiguration((event) => {
        if (event.affectsConfiguration('rawr')) this.open();
      }),
    ];
  }

  /** A command that runs with the function that the rest registers for it. */
  private afterwards(id: string): (...given: unknown[]) => Thenable<unknown> {
    return (...given) => {
      this.open();
      return vscode.commands.executeCommand(id, ...given);
    };
  }
}

function contributedCommands({ extension }: vscode.ExtensionContext): string[] {
  const { contributes } = extension.packageJSON as { contributes: { commands: { command: string }[] } };
  return contributes.commands.map(({ command }) => command);
}

/** Whether a packet or a decision is open from an earlier window. */
function hasOurTab(): boolean {
  return vscode.window.tabGroups.all
    .flatMap(({ tabs }) => tabs)
    .some(({ input }) => {
      if (input instanceof vscode.TabInputText) return input.uri.scheme.startsWith('rawr');
      return input instanceof vscode.TabInputWebview && input.viewType.endsWith('rawr.decision');
    });
}
