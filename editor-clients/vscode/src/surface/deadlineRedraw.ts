// Redraws the surfaces while a deadline runs, because nothing else happens until it passes. It sends no requests.
import type { Banner } from '../model/banner';

const EVERY_MS = 15_000;

export class DeadlineRedraw {
  private timer: NodeJS.Timeout | undefined;

  constructor(private readonly draw: () => void) {}

  schedule(banners: readonly Banner[]): void {
    clearTimeout(this.timer);
    if (!banners.some(({ headsUp }) => headsUp.deadlineAtMs !== undefined)) return;
    this.timer = setTimeout(this.draw, EVERY_MS);
  }

  dispose(): void {
    clearTimeout(this.timer);
  }
}
