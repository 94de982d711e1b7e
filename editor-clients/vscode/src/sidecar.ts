// The sidecar's interface for surfaces and models. `server/` implements it.
import type { Notifications, Requests, ThreadOpenParams } from './protocol';

export interface Disposable {
  dispose(): void;
}

export interface Sidecar {
  ask<M extends keyof Requests>(method: M, params: Requests[M][0]): Promise<Requests[M][1]>;
  on<N extends keyof Notifications>(method: N, hear: (params: Notifications[N]) => void): Disposable;
}

/** Requests about one thread. */
export type OfThread = {
  [M in keyof Requests]: Requests[M][0] extends { threadId: string } ? M : never;
}[keyof Requests];

const UNKNOWN_THREAD = -31001;
const NO_SEQUENCE = -31006;
const NOT_NOW = -31009;

function has(code: number, error: unknown): boolean {
  return typeof error === 'object' && error !== null && 'code' in error && error.code === code;
}

/** Whether a request was refused because no such sequence runs. */
export function isNoSequence(error: unknown): boolean {
  return has(NO_SEQUENCE, error);
}

/** Why an answer was refused: its sequence has ended, or it was answered or has gone on. */
export type LateRefusal = 'no_sequence' | 'not_now';

/** Undefined for any other error. */
export function lateRefusal(error: unknown): LateRefusal | undefined {
  if (isNoSequence(error)) return 'no_sequence';
  return has(NOT_NOW, error) ? 'not_now' : undefined;
}

/** Opens a thread as an observer, which does not affect its host. */
function toLookOn(threadId: string, cwd: string): ThreadOpenParams {
  return { threadId, cwd, role: 'observer', host: { name: 'vscode', capabilities: {} } };
}

/** Sends a request about a thread. An unwatched thread is opened for the duration of the request. */
export async function askOfThread<M extends OfThread>(
  sidecar: Sidecar,
  cwd: string,
  method: M,
  params: Requests[M][0] & { threadId: string },
): Promise<Requests[M][1]> {
  try {
    return await sidecar.ask(method, params);
  } catch (error) {
    if (!has(UNKNOWN_THREAD, error)) throw error;
  }
  const { threadId } = params;
  await sidecar.ask('rawr/thread/open', toLookOn(threadId, cwd));
  try {
    return await sidecar.ask(method, params);
  } finally {
    await sidecar.ask('rawr/thread/close', { threadId });
  }
}

/** An error's message with the sidecar's hint. */
export function said(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  const data = typeof error === 'object' && error !== null && 'data' in error ? error.data : undefined;
  const hint = typeof data === 'object' && data !== null && 'hint' in data ? data.hint : undefined;
  return typeof hint === 'string' && hint !== '' ? `${message}: ${hint}` : message;
}
