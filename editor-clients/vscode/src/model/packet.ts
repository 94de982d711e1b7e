// A packet that a person edits: whether it can still be handed over, and what its first line says of that.
import * as l10n from '@vscode/l10n';
import { deadline, offers } from './banner';
import type { Thread } from './threads';

export type PacketState = 'editable' | 'handed' | 'past';

/** Where a packet stands, by the banner of its thread. */
export function packetState(thread: Thread | undefined, sequenceId: string): PacketState {
  const banner = thread?.banner;
  if (!banner || banner.headsUp.sequenceId !== sequenceId) return 'past';
  if (thread.handedOver === sequenceId) return 'handed';
  return offers(banner, 'edit_packet') ? 'editable' : 'past';
}

/** Whether its sequence has ended. A thread that was not looked at yet does not tell. */
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
        ? l10n.t('Hand over, and the compaction goes on with this packet')
        : l10n.t('Hand over, and the agent gets this packet after the compaction');
      return [whatFor, ...left].join(' · ');
    }
    case 'handed':
      return l10n.t('This packet is handed over');
    case 'past':
      return l10n.t('The packet of a compaction that is past: it can only be read');
  }
}
