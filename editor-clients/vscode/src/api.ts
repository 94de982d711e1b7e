// The exports of the extension.
import { isDeepStrictEqual } from 'node:util';
import * as vscode from 'vscode';
import type { RawrThread } from './model/api';

/** `vscode.extensions.getExtension<RawrApi>('rawr.rawr')?.exports` */
export interface RawrApi {
  /** Raised by incompatible changes. */
  readonly version: 1;
  /** The threads that this window shows, most recently used first. */
  readonly threads: readonly RawrThread[];
  readonly onDidChangeThreads: vscode.Event<void>;
}

export class Api implements vscode.Disposable {
  private readonly changed = new vscode.EventEmitter<void>();
  private known: readonly RawrThread[] = [];

  refresh(current: readonly RawrThread[]): void {
    if (isDeepStrictEqual(current, this.known)) return;
    this.known = Object.freeze(current.map((thread) => Object.freeze(thread)));
    this.changed.fire();
  }

  /** Without the methods that change it. */
  get exports(): RawrApi {
    const threads = (): readonly RawrThread[] => this.known;
    return {
      version: 1,
      get threads() {
        return threads();
      },
      onDidChangeThreads: this.changed.event,
    };
  }

  dispose(): void {
    this.changed.dispose();
  }
}
