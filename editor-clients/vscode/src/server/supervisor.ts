// Starts the sidecar and restarts it with increasing waits.
import * as l10n from '@vscode/l10n';
import { statSync } from 'node:fs';
import { homedir } from 'node:os';
import * as vscode from 'vscode';
import { said } from '../sidecar';
import { type Settings, folders, settings } from '../settings';
import { type Found, NoBinary, type System, find } from './binary';
import type { Channels, Connection } from './connection';
import { BackOff, Serial } from './restarts';
import { run } from './run';

const VERSION_WITHIN_MS = 5_000;

const system: System = {
  isFile: (path) => statSync(path, { throwIfNoEntry: false })?.isFile() ?? false,
  version: (path) => run(path, ['--version'], VERSION_WITHIN_MS),
};

export interface Listener {
  /** A sidecar is ready. */
  up(connection: Connection): Promise<void>;
  /** The sidecar ended. */
  down(): void;
}

export type State =
  { kind: 'starting' | 'stopped' } | { kind: 'running'; binary: Found } | { kind: 'failed'; why: string };

export class Supervisor implements vscode.Disposable {
  private readonly backOff = new BackOff();
  private readonly restarts = new Serial(() => this.startAgain());
  private readonly stateChanged = new vscode.EventEmitter<void>();
  readonly onStateChanged = this.stateChanged.event;
  connection: Connection | undefined;
  state: State = { kind: 'stopped' };
  private timer: NodeJS.Timeout | undefined;
  private startedAt = 0;

  constructor(
    private readonly extension: vscode.ExtensionContext,
    private readonly channels: Channels,
    private readonly listener: Listener,
  ) {}

  /** Restarts the sidecar. Requests during a restart share one further restart. */
  restart(): Promise<void> {
    this.backOff.reset();
    clearTimeout(this.timer);
    return this.restarts.run();
  }

  async stop(): Promise<void> {
    clearTimeout(this.timer);
    const { connection } = this;
    this.connection = undefined;
    if (!connection) return;
    this.listener.down();
    try {
      await connection.stop();
    } catch (error) {
      this.channels.log.warn(`the sidecar did not end in order: ${said(error)}`);
    }
    connection.dispose();
    this.become({ kind: 'stopped' });
  }

  dispose(): void {
    clearTimeout(this.timer);
    this.stateChanged.dispose();
  }

  private become(state: State): void {
    this.state = state;
    this.stateChanged.fire();
  }

  private async startAgain(): Promise<void> {
    await this.stop();
    this.become({ kind: 'starting' });
    let binary: Found;
    try {
      binary = await find(this.places(settings()), system);
    } catch (error) {
      if (!(error instanceof NoBinary)) throw error;
      this.fail(error.message);
      return;
    }
    this.channels.log.info(`${binary.path} (${binary.origin}), version ${binary.version}`);
    await this.start(binary);
  }

  private async start(binary: Found): Promise<void> {
    // Loaded lazily, because it is half of the bundle.
    const { Connection } = await import('./connection');
    const connection: Connection = new Connection(binary, settings(), this.channels, () =>
      this.closed(connection),
    );
    this.connection = connection;
    this.startedAt = Date.now();
    try {
      await connection.start();
      this.become({ kind: 'running', binary });
      await this.listener.up(connection);
    } catch (error) {
      this.channels.log.error(`the sidecar did not start: ${said(error)}`);
      if (this.connection === connection) this.closed(connection);
    }
  }

  private closed(connection: Connection): void {
    if (this.connection !== connection) return;
    this.connection = undefined;
    this.listener.down();
    const wait = this.backOff.ended(Date.now() - this.startedAt);
    if (wait === undefined) {
      this.fail(l10n.t('The rawr sidecar ended repeatedly. It is not restarted automatically.'));
      return;
    }
    this.channels.log.warn(`the sidecar ended; it is started again in ${wait} ms`);
    this.become({ kind: 'starting' });
    this.timer = setTimeout(() => void this.restarts.run(), wait);
  }

  private places(of: Settings): Parameters<typeof find>[0] {
    return {
      setting: of.path,
      folders: vscode.workspace.isTrusted ? folders() : [],
      path: process.env['PATH'] ?? '',
      extension: this.extension.extensionPath,
      home: homedir(),
    };
  }

  /** Shows one message with its actions. */
  private fail(why: string): void {
    this.become({ kind: 'failed', why });
    this.channels.log.error(why);
    const [open, again, log] = [l10n.t('Open setting'), l10n.t('Try again'), l10n.t('Show log')];
    void vscode.window.showErrorMessage(why, open, again, log).then((answer) => {
      if (answer === open)
        void vscode.commands.executeCommand('workbench.action.openSettings', 'rawr.server.path');
      if (answer === again) void this.restart();
      if (answer === log) this.channels.log.show();
    });
  }
}
