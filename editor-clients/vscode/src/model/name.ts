// The display name of a thread, and texts that begin with it.
import type { ThreadSummary } from '../protocol';
import { harmless } from './banner';
import type { Thread } from './threads';

/** Its title, else its working folder. */
export function name({ summary }: Thread): string {
  return title(summary) ?? folder(summary) ?? summary.threadId;
}

/** The folder of a thread whose name is its title; otherwise empty, because the name is the folder. */
export function place({ summary }: Thread): string[] {
  const known = folder(summary);
  return title(summary) !== undefined && known !== undefined ? [known] : [];
}

/** A confirmation of what happened to a thread. */
export function confirmation(thread: Thread | undefined, what: string): string {
  return thread ? harmless([name(thread), what].join(' · ')) : what;
}

function title(summary: ThreadSummary): string | undefined {
  return summary.title?.trim() === '' ? undefined : summary.title;
}

function folder({ cwd }: ThreadSummary): string | undefined {
  return cwd.split('/').filter(Boolean).pop();
}
