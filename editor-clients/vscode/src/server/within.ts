// Waits with an end.
import * as l10n from '@vscode/l10n';

/** What was waited for did not come. */
export class TookTooLong extends Error {
  constructor(milliseconds: number) {
    super(l10n.t('it did not answer in {0} s', milliseconds / 1000));
  }
}

/** The result, if it comes within this time; rejects with `TookTooLong` otherwise. */
export function within<T>(work: Promise<T>, milliseconds: number): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new TookTooLong(milliseconds)), milliseconds);
    work.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}
