// A packet in an editor: whether it can still be delivered, and its first line.
import * as l10n from '@vscode/l10n';
import { deadline, offers } from './banner';
import type { Thread } from './threads';

export type PacketState = 'editable' | 'handed' | 'past';

/** The state of a packet, from the banner of its thread. */
export function packetState(thread: Thread | undefined, sequenceId: string): PacketState {
  const banner = thread?.banner;
  if (!banner || banner.headsUp.sequenceId !== sequenceId) return 'past';
  if (thread.handedOver === sequenceId) return 'handed';
  return offers(banner, 'edit_packet') ? 'editable' : 'past';
}

/** Whether its sequence has ended. False if the thread's details are not loaded. */
export function isOver(thread: Thread | undefined, sequenceId: string): boolean {
  return thread?.details !== undefined && thread.sequenceId !== sequenceId;
}

export function packetLine(thread: Thread | undefined, sequenceId: string, nowMs: number): string {
  switch (packetState(thread, sequenceId)) {
    case 'editable': {
      const banner = thread?.banner;
      const left = banner ? deadline(banner, nowMs) : [];
      const asks = banner !== undefined && offers(banner, 'approve');
      const whatFor = asks
        ? l10n.t('Hand over and continue the compaction with this packet')
        : l10n.t('Hand over: the agent gets this packet after the compaction');
      return [whatFor, ...left].join(' · ');
    }
    case 'handed':
      return l10n.t('This packet was handed over');
    case 'past':
      return l10n.t('The packet of a past compaction (read-only)');
  }
}
