// Puts the bundled binary in the PATH of the integrated terminals, so that the commands of the guide work there.
import * as l10n from '@vscode/l10n';
import { existsSync } from 'node:fs';
import * as path from 'node:path';
import type { ExtensionContext } from 'vscode';
import type { Found } from './binary';

interface TerminalPlaces {
  /** The folder of this extension. */
  extension: string;
  /** The variable PATH. */
  path: string;
}

/** The folder to add to the PATH of terminals; none if rawr is in the PATH and the extension does not use its own. */
export function terminalFolder(
  used: Pick<Found, 'origin'>,
  places: TerminalPlaces,
  exists: (file: string) => boolean,
): string | undefined {
  const isIn = (folder: string): boolean => exists(path.join(folder, 'rawr'));
  const bundled = path.join(places.extension, 'server');
  if (!isIn(bundled)) return undefined;
  const isInPath = places.path.split(path.delimiter).some(isIn);
  return used.origin === 'bundled' || !isInPath ? bundled : undefined;
}

/** Appended, so that the user's own rawr takes precedence. */
export function offerInTerminals(
  context: Pick<ExtensionContext, 'environmentVariableCollection' | 'extensionPath'>,
  used: Pick<Found, 'origin'>,
): void {
  const places = { extension: context.extensionPath, path: process.env['PATH'] ?? '' };
  const folder = terminalFolder(used, places, existsSync);
  const value = folder && path.delimiter + folder;
  const variables = context.environmentVariableCollection;
  // Each change marks the open terminals as outdated.
  if (variables.get('PATH')?.value === value) return;
  variables.description = l10n.t('Adds the rawr of the extension to the PATH');
  if (value === undefined) variables.delete('PATH');
  else variables.append('PATH', value);
}
