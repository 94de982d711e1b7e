// Waits for what an editor shows at some time.

/** Timeout of a wait, long enough for a busy machine. */
export const PATIENCE = 60_000;

export async function until(what: string, holds: () => boolean | Promise<boolean>): Promise<void> {
  const end = Date.now() + PATIENCE;
  while (!(await holds())) {
    if (Date.now() > end) throw new Error(`${what} did not come`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

/** Whether an action succeeded on a page that may be redrawn at any time. */
export async function succeeds(work: Promise<unknown>): Promise<boolean> {
  return work.then(
    () => true,
    () => false,
  );
}
