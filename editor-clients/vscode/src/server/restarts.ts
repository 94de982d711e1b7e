// When the sidecar is started again, and that never two starts run side by side. No process, no clock.

/** A sidecar that ran so long was well. */
const WELL_AFTER_MS = 60_000;
const FIRST_MS = 500;
const MOST_MS = 30_000;
/** So many ends in a row are no accident. */
const MOST_ENDS = 6;

/** How long to wait before the next start; each end in a row doubles it. */
export class BackOff {
  private ends = 0;

  /** Undefined: it is not started again by itself. */
  ended(ranMs: number): number | undefined {
    this.ends = ranMs >= WELL_AFTER_MS ? 1 : this.ends + 1;
    return this.ends >= MOST_ENDS ? undefined : Math.min(MOST_MS, FIRST_MS * 2 ** (this.ends - 1));
  }

  reset(): void {
    this.ends = 0;
  }
}

/** One piece of work at a time, and at most one more that waits: whatever asks meanwhile is served by that one. */
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
