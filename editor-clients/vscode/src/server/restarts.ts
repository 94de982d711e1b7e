// When to restart the sidecar, with at most one start at a time. Pure.

/** A sidecar that ran this long resets the count of failures. */
const WELL_AFTER_MS = 60_000;
const FIRST_MS = 500;
const MOST_MS = 30_000;
/** The number of failures in a row after which it is not restarted. */
const MOST_ENDS = 6;

/** The wait before the next start, doubled with each failure in a row. */
export class BackOff {
  private ends = 0;

  /** Undefined if it must not be restarted automatically. */
  ended(ranMs: number): number | undefined {
    this.ends = ranMs >= WELL_AFTER_MS ? 1 : this.ends + 1;
    return this.ends >= MOST_ENDS ? undefined : Math.min(MOST_MS, FIRST_MS * 2 ** (this.ends - 1));
  }

  reset(): void {
    this.ends = 0;
  }
}

/** Runs one task at a time. Requests during a run share one further run. */
export class Serial {
  private running: Promise<void> | undefined;
  private waiting: Promise<void> | undefined;

  constructor(private readonly work: () => Promise<void>) {}

  run(): Promise<void> {
    if (this.running === undefined) return this.start();
    this.waiting ??= this.running.then(
      () => this.next(),
      () => this.next(),
    );
    return this.waiting;
  }

  private next(): Promise<void> {
    this.waiting = undefined;
    return this.start();
  }

  private start(): Promise<void> {
    const running = this.work().finally(() => {
      if (this.running === running) this.running = undefined;
    });
    this.running = running;
    return running;
  }
}
