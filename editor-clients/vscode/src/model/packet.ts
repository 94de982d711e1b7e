// A packet in an editor: whether it can still be delivered, and its first line.
import * as l10n from '@vscode/l10n';
import { deadline, offers } from './banner';
import type { Thread } from './threads';

/** `late` is a text that the user wrote and did not deliver before the compaction ended. */
export type PacketState = 'editable' | 'handed' | 'late' | 'past';

/** The state of a packet, from the banner of its thread. */
export function packetState(thread: Thread | undefined, sequenceId: string, isEdited: boolean): PacketState {
  const over = isEdited ? 'late' : 'past';
  const banner = thread?.banner;
  if (!banner || banner.headsUp.sequenceId !== sequenceId) return over;
  if (thread.handedOver === sequenceId) return 'handed';
  return offers(banner, 'edit_packet') ? 'editable' : over;
}

export function packetLine(state: PacketState, thread: Thread | undefined, nowMs: number): string {
  switch (state) {
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
    case 'late':
      return l10n.t('Too late: this compaction is over, and your text was not handed over');
    case 'past':
      return l10n.t('The packet of a past compaction (read-only)');
  }
}
