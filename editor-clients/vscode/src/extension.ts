// Activation. Everything else is loaded once something of rawr's is there or asked for: most windows never need it.
import { homedir } from 'node:os';
import * as vscode from 'vscode';
import { Api, type RawrApi } from './api';
import { DOCUMENTS } from './documents';
import { FolderWatch } from './server/folderWatch';
import { possibleHomes } from './server/homes';
import { offerInTerminals } from './server/terminals';
import { settings } from './settings';
import { translate } from './translate';
import type { Opened } from './window';

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
  /** What waits for the first need of the rest. */
  private waiting: vscode.Disposable | undefined;
  private opened: Promise<Opened> | undefined;

  constructor(private readonly context: vscode.ExtensionContext) {}

  begin(): void {
    const { home, path } = settings();
    const folders = new FolderWatch(possibleHomes(home, process.env, homedir()), () => void this.open());
    if (path !== '' || folders.found || vscode.workspace.textDocuments.some(isOurs) || hasOurTab()) {
      void this.open();
      return;
    }
    translate();
    offerInTerminals(this.context, { origin: 'path' });
    folders.begin();
    this.waiting = vscode.Disposable.from(folders, ...this.needs());
  }

  async stop(): Promise<void> {
    await (await this.opened)?.stop();
  }

  dispose(): void {
    this.waiting?.dispose();
    this.api.dispose();
  }

  private open(): Promise<Opened> {
    this.opened ??= import('./window').then(({ open }) => {
      this.waiting?.dispose();
      return open(this.context, this.api);
    });
    return this.opened;
  }

  private needs(): vscode.Disposable[] {
    const { commands, window, workspace } = vscode;
    const view: vscode.TreeDataProvider<never> = {
      getChildren: () => {
        void this.open();
        return [];
      },
      getTreeItem: (row) => row,
    };
    return [
      ...contributedCommands(this.context).map((id) => commands.registerCommand(id, this.afterwards(id))),
      window.registerTreeDataProvider('rawr.threads', view),
      workspace.onDidOpenTextDocument((document) => {
        if (isOurs(document)) void this.open();
      }),
      workspace.onDidChangeConfiguration((event) => {
        if (event.affectsConfiguration('rawr')) void this.open();
      }),
    ];
  }

  /** A command that runs with the function that the rest registers for it. */
  private afterwards(id: string): (...given: unknown[]) => Promise<unknown> {
    return async (...given) => {
      await this.open();
      return vscode.commands.executeCommand(id, ...given);
    };
  }
}

function contributedCommands({ extension }: vscode.ExtensionContext): string[] {
  const { contributes } = extension.packageJSON as { contributes: { commands: { command: string }[] } };
  return contributes.commands.map(({ command }) => command);
}

function isOurs(document: vscode.TextDocument): boolean {
  return vscode.languages.match(DOCUMENTS, document) > 0;
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
