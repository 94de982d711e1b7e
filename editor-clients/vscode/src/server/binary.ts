// Finds the `rawr` binary: in the setting, the extension, or the PATH. A binary in an open folder must not be started unless
// the user's setting names it.
import * as l10n from '@vscode/l10n';
import * as path from 'node:path';

export type Origin = 'setting' | 'bundled' | 'path';

export interface Found {
  path: string;
  origin: Origin;
  version: string;
}

export interface Places {
  /** The setting `rawr.server.path`; may be empty. */
  setting: string;
  /** The open and trusted folders. */
  folders: readonly string[];
  /** The variable PATH. */
  path: string;
  /** The folder of this extension. */
  extension: string;
  home: string;
}

export interface System {
  isFile(path: string): boolean;
  /** The output of `path --version`. */
  version(path: string): Promise<string>;
}

/** No usable binary, with a hint. */
export class NoBinary extends Error {}

function expanded(setting: string, places: Places): string {
  if (setting.startsWith('~/')) return path.join(places.home, setting.slice(2));
  const folder = places.folders[0];
  return folder === undefined ? setting : setting.replace('${workspaceFolder}', folder);
}

function* candidates(places: Places): Generator<[Origin, string]> {
  yield ['bundled', path.join(places.extension, 'server', 'rawr')];
  for (const folder of places.path.split(':')) {
    if (path.isAbsolute(folder)) yield ['path', path.join(folder, 'rawr')];
  }
}

async function checked(origin: Origin, file: string, system: System): Promise<Found> {
  let printed: string;
  try {
    printed = await system.version(file);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new NoBinary(l10n.t('Failed to start {0}: {1}', file, why));
  }
  const version = /^rawr (\S+)/.exec(printed)?.[1];
  if (version === undefined) throw new NoBinary(l10n.t('{0} is not rawr', file));
  return { path: file, origin, version };
}

/** The binary to start. An invalid setting is an error; elsewhere, another program with that name is skipped. */
export async function find(places: Places, system: System): Promise<Found> {
  if (places.setting !== '') {
    const file = expanded(places.setting, places);
    if (!system.isFile(file))
      throw new NoBinary(l10n.t('The setting rawr.server.path names {0}, which does not exist.', file));
    return checked('setting', file, system);
  }
  const passedOver: string[] = [];
  for (const [origin, file] of candidates(places)) {
    if (!system.isFile(file)) continue;
    try {
      return await checked(origin, file, system);
    } catch (error) {
      if (!(error instanceof NoBinary)) throw error;
      passedOver.push(error.message);
    }
  }
  const missing = l10n.t(
    'rawr is not installed: it is neither in the PATH nor in this extension. Install it, or name it in the setting rawr.server.path.',
  );
  throw new NoBinary([missing, ...passedOver].join(' '));
}
