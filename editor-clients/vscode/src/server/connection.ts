// A running sidecar behind `vscode-languageclient`. The supervisor decides when to start it.
import { homedir } from 'node:os';
import * as vscode from 'vscode';
import {
  CloseAction,
  type DocumentFilter,
  ErrorAction,
  type ExecuteCommandSignature,
  LanguageClient,
  type LanguageClientOptions,
  ResponseError,
  RevealOutputChannelOn,
  type Middleware,
} from 'vscode-languageclient/node';
import { SERVED } from '../documents';
import type { Notifications, Requests } from '../protocol';
import type { Disposable, Sidecar } from '../sidecar';
import { type Settings, folders } from '../settings';
import type { Found } from './binary';
import { protocolVersion } from './compatibility';
import { possibleHomes } from './homes';
import { ServerProcess } from './serverProcess';
import { showServed } from './showServed';
import type { Process } from './supervisor';

type ShowDocumentMiddleware = NonNullable<NonNullable<Middleware['window']>['showDocument']>;

/** Codex's `config.toml` in a folder that may be the home, and in no other, because many programs have such a file. */
function configDocuments(settings: Settings): DocumentFilter[] {
  return possibleHomes(settings.home, process.env, homedir()).map((home) => ({
    scheme: 'file',
    pattern: { baseUri: vscode.Uri.file(home).toString(), pattern: 'config.toml' },
  }));
}

export interface Channels {
  log: vscode.LogOutputChannel;
  /** Created with the first trace. */
  trace(): vscode.LogOutputChannel;
}

/** A code lens passes a document's URI as a string, a menu as a `Uri`; the sidecar reads strings. */
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

/** Documents that the sidecar serves open beside the editor; others open as usual. */
const shownHere: ShowDocumentMiddleware = async (params, token, next) => {
  const uri = vscode.Uri.parse(params.uri);
  if (uri.scheme !== 'rawr') return next(params, token);
  await showServed(uri);
  return { success: true };
};

function options(settings: Settings, channels: Channels, closed: () => void): LanguageClientOptions {
  return {
    documentSelector: [...SERVED, ...configDocuments(settings)],
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

/** The supervisor shows one message about a failure; the library would show one for each request. */
class QuietClient extends LanguageClient {
  override error(message: string, data?: unknown): void {
    super.error(message, data, false);
  }
}

export class Connection implements Sidecar, Process {
  private readonly client: LanguageClient;
  private readonly process: ServerProcess;

  constructor(
    readonly binary: Found,
    settings: Settings,
    channels: Channels,
    closed: () => void,
  ) {
    this.process = new ServerProcess(binary.path, ['serve', ...settings.args], folders()[0]);
    const server = () => this.process.start();
    this.client = new QuietClient('rawr', 'rawr', server, options(settings, channels, closed));
  }

  get protocolVersion(): number | undefined {
    return protocolVersion(this.client.initializeResult?.capabilities);
  }

  start(): Promise<void> {
    return this.client.start();
  }

  async stop(): Promise<void> {
    // A client that is starting cannot be stopped; the end of its process ends it.
    if (!this.client.isRunning()) {
      this.process.kill();
      return;
    }
    try {
      await this.client.stop();
    } finally {
      await this.process.ends();
    }
  }

  /** An answer of any kind, as to a request that it does not know. */
  answers(): Promise<unknown> {
    return this.client.sendRequest('rawr/connection/check', {}).catch((error: unknown) => {
      if (!(error instanceof ResponseError)) throw error;
    });
  }

  ask<M extends keyof Requests>(method: M, params: Requests[M][0]): Promise<Requests[M][1]> {
    return this.client.sendRequest<Requests[M][1]>(method, params);
  }

  /** The standard LSP features. */
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
    this.process.kill();
    // The end of the process is not an error of the client any more.
    if (this.client.isRunning()) void this.client.dispose().catch(() => undefined);
  }
}
