// Starts the sidecar and restarts it with increasing waits. Independent of `vscode`.
import * as l10n from '@vscode/l10n';
import { said } from '../sidecar';
import { type Found, NoBinary } from './binary';
import { Incompatible, checkCompatible } from './compatibility';
import { BackOff, Serial } from './restarts';

/** A process of the sidecar, as far as its supervisor uses it. */
export interface Process {
  /** From the result of `initialize`. */
  readonly protocolVersion: number | undefined;
  start(): Promise<void>;
  stop(): Promise<void>;
  dispose(): void;
}

export interface SupervisorLog {
  info(text: string): void;
  warn(text: string): void;
  error(text: string): void;
}

export interface SupervisorHost<P extends Process> {
  log: SupervisorLog;
  find(): Promise<Found>;
  /** Creates a process, which calls `closed` once it has ended by itself. */
  create(binary: Found, closed: () => void): Promise<P>;
  /** A sidecar is ready. */
  up(process: P): Promise<void>;
  /** The sidecar ended. */
  down(): void;
  stateChanged(state: ServerState): void;
}

/** Why there is no sidecar and none will be started automatically. */
export type FailureCause = 'missing' | 'incompatible' | 'crashed';

export type ServerState =
  | { kind: 'starting' | 'stopped' }
  | { kind: 'running'; binary: Found }
  | { kind: 'failed'; cause: FailureCause; why: string };

export class Supervisor<P extends Process> {
  private readonly backOff = new BackOff();
  private readonly restarts = new Serial(() => this.startAgain());
  private process: P | undefined;
  private timer: NodeJS.Timeout | undefined;
  private startedAt = 0;
  private isStopped = false;

  constructor(private readonly host: SupervisorHost<P>) {}

  /** Restarts the sidecar. Requests during a restart share one further restart. */
  restart(): Promise<void> {
    this.backOff.reset();
    clearTimeout(this.timer);
    return this.restarts.run();
  }

  /** Stops the sidecar, or what would start it, until a restart. */
  async stop(): Promise<void> {
    this.isStopped = true;
    clearTimeout(this.timer);
    const { process } = this;
    if (process) await this.end(process);
    this.host.stateChanged({ kind: 'stopped' });
  }

  dispose(): void {
    clearTimeout(this.timer);
  }

  private async startAgain(): Promise<void> {
    if (this.process) await this.stop();
    this.isStopped = false;
    this.host.stateChanged({ kind: 'starting' });
    try {
      const binary = await this.host.find();
      this.host.log.info(`${binary.path} (${binary.origin}), version ${binary.version}`);
      if (!this.wasStopped()) await this.start(binary);
    } catch (error) {
      if (error instanceof NoBinary) this.fail('missing', error.message);
      else this.fail('crashed', l10n.t('Failed to start {0}: {1}', 'rawr', said(error)));
    }
  }

  /** Whether it was stopped, also during a wait. */
  private wasStopped(): boolean {
    return this.isStopped;
  }

  private async start(binary: Found): Promise<void> {
    const process: P = await this.host.create(binary, () => this.closed(process));
    this.process = process;
    this.startedAt = Date.now();
    try {
      await process.start();
      checkCompatible(process.protocolVersion, binary.version);
      await this.host.up(process);
      if (this.process === process) this.host.stateChanged({ kind: 'running', binary });
    } catch (error) {
      this.host.log.error(`the sidecar did not start: ${said(error)}`);
      if (this.process !== process) return;
      if (error instanceof Incompatible) {
        await this.end(process);
        this.fail('incompatible', error.message);
      } else {
        this.closed(process);
      }
    }
  }

  /** Stops a process in any state, so that none is left behind. */
  private async end(process: P): Promise<void> {
    this.process = undefined;
    this.host.down();
    try {
      await process.stop();
    } catch (error) {
      this.host.log.warn(`the sidecar did not end in order: ${said(error)}`);
    }
    process.dispose();
  }

  private closed(process: P): void {
    if (this.process !== process) return;
    void this.end(process);
    const wait = this.backOff.ended(Date.now() - this.startedAt);
    if (wait === undefined) {
      this.fail('crashed', l10n.t('The rawr sidecar ended repeatedly. It is not restarted automatically.'));
      return;
    }
    this.host.log.warn(`the sidecar ended; it is started again in ${wait} ms`);
    this.host.stateChanged({ kind: 'starting' });
    this.timer = setTimeout(() => void this.restarts.run(), wait);
  }

  private fail(cause: FailureCause, why: string): void {
    this.host.log.error(why);
    this.host.stateChanged({ kind: 'failed', cause, why });
  }
}
