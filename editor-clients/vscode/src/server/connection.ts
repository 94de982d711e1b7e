// One running sidecar behind `vscode-languageclient`. When it is started and started again is the supervisor's to say.
import * as vscode from 'vscode';
import {
  CloseAction,
  ErrorAction,
  type ExecuteCommandSignature,
  LanguageClient,
  type LanguageClientOptions,
  RevealOutputChannelOn,
  type Middleware,
  type ServerOptions,
} from 'vscode-languageclient/node';
import type { Notifications, Requests } from '../protocol';
import type { Disposable, Sidecar } from '../sidecar';
import type { Settings } from '../settings';
import { showServed } from '../surface/promptPreview';
import type { Found } from './binary';

type ShowDocumentMiddleware = NonNullable<NonNullable<Middleware['window']>['showDocument']>;

/** Which documents rawr may be told of; whether one is its own is the sidecar's to say. */
const DOCUMENTS = [
  { scheme: 'file', pattern: '**/{rawr,.rawr,config}.toml' },
  { scheme: 'file', pattern: '**/auto-compact/*.md' },
];

export interface Channels {
  log: vscode.LogOutputChannel;
  /** Made when the first trace is wanted. */
  trace(): vscode.LogOutputChannel;
}

/** A code lens gives a document's name, a menu the document's `Uri`; the sidecar reads names. */
function asNames(
  command: string,
  args: unknown[],
  next: ExecuteCommandSignature,
): vscode.ProviderResult<unknown> {
  const active = vscode.window.activeTextEditor?.document.uri;
  const given = args.length > 0 || active === undefined ? args : [active];
  return next(
    command,
    given.map((one) => (one instanceof vscode.Uri ? one.toString() : one)),
  );
}

/** What the sidecar serves has a place of its own; everything else is shown as it always is. */
const shownHere: ShowDocumentMiddleware = async (params, token, next) => {
  const uri = vscode.Uri.parse(params.uri);
  if (uri.scheme !== 'rawr') return next(params, token);
  await showServed(uri);
  return { success: true };
};

function options(settings: Settings, channels: Channels, closed: () => void): LanguageClientOptions {
  return {
    documentSelector: DOCUMENTS,
    initializationOptions: settings.home === '' ? {} : { home: settings.home },
    outputChannel: channels.log,
    ...(settings.trace ? { traceOutputChannel: channels.trace() } : {}),
    revealOutputChannelOn: RevealOutputChannelOn.Never,
    middleware: { executeCommand: asNames, window: { showDocument: shownHere } },
    initializationFailedHandler: () => false,
    errorHandler: {
      error: () => ({ action: ErrorAction.Continue, handled: true }),
      closed: () => {
        closed();
        return { action: CloseAction.DoNotRestart, handled: true };
      },
    },
  };
}

export class Connection implements Sidecar, Disposable {
  private readonly client: LanguageClient;

  constructor(binary: Found, settings: Settings, channels: Channels, closed: () => void) {
    const server: ServerOptions = { command: binary.path, args: ['serve', ...settings.args] };
    this.client = new LanguageClient('rawr', 'rawr', server, options(settings, channels, closed));
  }

  start(): Promise<void> {
    return this.client.start();
  }

  async stop(): Promise<void> {
    if (this.client.needsStop()) await this.client.stop();
  }

  ask<M extends keyof Requests>(method: M, params: Requests[M][0]): Promise<Requests[M][1]> {
    return this.client.sendRequest<Requests[M][1]>(method, params);
  }

  /** What editors ask of any language server. */
  command(command: string, ...args: unknown[]): Promise<unknown> {
    return this.client.sendRequest('workspace/executeCommand', { command, arguments: args });
  }

  can(command: string): boolean {
    const commands = this.client.initializeResult?.capabilities.executeCommandProvider?.commands;
    return commands?.includes(command) ?? false;
  }

  on<N extends keyof Notifications>(method: N, hear: (params: Notifications[N]) => void): Disposable {
    return this.client.onNotification(method, hear);
  }

  dispose(): void {
    void this.client.dispose();
  }
}
