// Whether the sidecar speaks the protocol that this extension was built for. Pure.
import * as l10n from '@vscode/l10n';
import { PROTOCOL_VERSION } from '../protocol';

/** The sidecar and this extension cannot work together; says which of both to update. */
export class Incompatible extends Error {}

/** The protocol version in the result of `initialize`; undefined if the sidecar does not tell. */
export function protocolVersion(capabilities: unknown): number | undefined {
  const version = property(property(property(capabilities, 'experimental'), 'rawr'), 'protocolVersion');
  return typeof version === 'number' ? version : undefined;
}

function property(of: unknown, key: string): unknown {
  return typeof of === 'object' && of !== null ? (of as Record<string, unknown>)[key] : undefined;
}

export function checkCompatible(theirs: number | undefined, binaryVersion: string): void {
  if (theirs === PROTOCOL_VERSION) return;
  throw new Incompatible(
    theirs !== undefined && theirs > PROTOCOL_VERSION
      ? l10n.t('rawr {0} is newer than this extension supports: update the extension.', binaryVersion)
      : l10n.t('rawr {0} is too old for this extension: update rawr.', binaryVersion),
  );
}
