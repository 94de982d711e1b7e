// Starts the sidecar and restarts it with increasing waits. Independent of `vscode`.
import * as l10n from '@vscode/l10n';
import { said } from '../sidecar';
import { type Found, NoBinary } from './binary';
import { Incompatible, checkCompatible } from './compatibility';
import { BackOff, Serial } from './restarts';
import { TookTooLong, within } from './within';

/** The time for the answer to `initialize`. */
const START_WITHIN_MS = 15_000;
/** The pause between two questions whether a sidecar still answers, and the time for each answer. */
const ASK_EVERY_MS = 5_000;
const ANSWER_WITHIN_MS = 10_000;

/** A process of the sidecar, as far as its supervisor uses it. */
export interface Process {
  /** From the result of `initialize`. */
  readonly protocolVersion: number | undefined;
  start(): Promise<void>;
  /** Ends it, by force if it does not end in order. Possible in any state. */
  stop(): Promise<void>;
  /** Settles once it has answered something. */
  answers(): Promise<unknown>;
  /** Ends it at once, by force. */
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

const INVALID_PARAMS = -32602;

/** Whether the sidecar refused its settings, as it would again. */
function isRefusal(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === INVALID_PARAMS;
}

/** A start that was given up, because the sidecar was restarted or stopped meanwhile. */
class GivenUp extends Error {}

export class Supervisor<P extends Process> {
  private readonly backOff = new BackOff();
  private readonly restarts = new Serial(() => this.startAgain());
  private process: P | undefined;
  private timer: NodeJS.Timeout | undefined;
  private heartbeat: NodeJS.Timeout | undefined;
  private startedAt = 0;
  private isStopped = false;
  /** Ends the wait for a start. */
  private giveUp: () => void = () => undefined;

  constructor(private readonly host: SupervisorHost<P>) {}

  /** Restarts the sidecar. Requests during a restart share one further restart, and do not wait for one that hangs. */
  restart(): Promise<void> {
    this.isStopped = false;
    this.backOff.reset();
    clearTimeout(this.timer);
    this.giveUp();
    return this.restarts.run();
  }

  /** Stops the sidecar, or what would start it, until a restart. */
  async stop(): Promise<void> {
    this.isStopped = true;
    clearTimeout(this.timer);
    this.giveUp();
    const { process } = this;
    if (process) await this.end(process);
    if (this.wasStopped()) this.host.stateChanged({ kind: 'stopped' });
  }

  /** Leaves no process behind. */
  dispose(): void {
    this.isStopped = true;
    clearTimeout(this.timer);
    clearTimeout(this.heartbeat);
    const { process } = this;
    this.process = undefined;
    process?.dispose();
    this.giveUp();
  }

  private async startAgain(): Promise<void> {
    if (this.process) await this.end(this.process);
    if (this.wasStopped()) return;
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
    const givenUp = new Promise<never>((_, reject) => {
      this.giveUp = () => reject(new GivenUp());
    });
    try {
      const ready = (async () => {
        await process.start();
        if (this.process !== process) return;
        checkCompatible(process.protocolVersion, binary.version);
        await this.host.up(process);
      })();
      await Promise.race([within(ready, START_WITHIN_MS), givenUp]);
      if (this.process !== process) return;
      this.host.stateChanged({ kind: 'running', binary });
      this.watch(process);
    } catch (error) {
      await this.startFailed(process, error);
    }
  }

  private async startFailed(process: P, error: unknown): Promise<void> {
    if (error instanceof GivenUp) {
      if (this.process === process) await this.end(process);
      return;
    }
    this.host.log.error(`the sidecar did not start: ${said(error)}`);
    if (this.process !== process) return;
    if (error instanceof Incompatible) {
      await this.end(process);
      this.fail('incompatible', error.message);
    } else if (isRefusal(error)) {
      await this.end(process);
      this.fail('crashed', said(error));
    } else if (error instanceof TookTooLong) {
      await this.end(process);
      const seconds = START_WITHIN_MS / 1000;
      this.fail('crashed', l10n.t('The rawr sidecar did not answer in {0} s.', seconds));
    } else {
      this.closed(process);
    }
  }

  /** Asks now and then whether it still answers, because one that hangs would show old states for ever. */
  private watch(process: P): void {
    this.heartbeat = setTimeout(() => {
      within(process.answers(), ANSWER_WITHIN_MS).then(
        () => {
          if (this.process === process) this.watch(process);
        },
        (error: unknown) => {
          if (this.process !== process) return;
          this.host.log.error(`the sidecar does not answer: ${said(error)}`);
          this.closed(process);
        },
      );
    }, ASK_EVERY_MS);
    this.heartbeat.unref();
  }

  /** Stops a process in any state, so that none is left behind. */
  private async end(process: P): Promise<void> {
    this.process = undefined;
    clearTimeout(this.heartbeat);
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
