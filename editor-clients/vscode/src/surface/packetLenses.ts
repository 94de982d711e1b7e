// The lenses above a packet: what it is for, the deadline, and what can be done with it.
import * as l10n from '@vscode/l10n';
import * as vscode from 'vscode';
import { type PacketState, packetLine } from '../model/packet';
import type { PacketName } from '../model/packetTexts';
import type { Thread } from '../model/threads';

const FIRST_LINE = new vscode.Range(0, 0, 0, 0);

interface LensedPacket {
  uri: vscode.Uri;
  name: PacketName;
  state: PacketState;
  thread: Thread | undefined;
}

export function packetLenses({ uri, name, state, thread }: LensedPacket): vscode.CodeLens[] {
  const lens = (title: string, command = '', argument?: unknown): vscode.CodeLens =>
    new vscode.CodeLens(FIRST_LINE, { title, command, arguments: argument === undefined ? [] : [argument] });
  const line = lens(packetLine(state, thread, Date.now()));
  switch (state) {
    case 'editable':
      return [
        lens(l10n.t('Hand Over to the Agent'), 'rawr.handOver', uri),
        line,
        lens(l10n.t('Other answers…'), 'rawr.answer', name),
      ];
    case 'late':
      return [
        line,
        lens(l10n.t('Save as File…'), 'rawr.savePacketAs', uri),
        lens(l10n.t('Discard'), 'rawr.discardPacket', uri),
      ];
    default:
      return [line];
  }
}
