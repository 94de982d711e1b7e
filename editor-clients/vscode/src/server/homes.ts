// The folders that may be rawr's home. The sidecar knows which one it is.
import * as path from 'node:path';

/** A setting is expanded by no shell. */
export function expandedHome(setting: string, user: string): string {
  if (setting === '~') return user;
  return setting.startsWith('~/') ? path.join(user, setting.slice(2)) : setting;
}

export function possibleHomes(setting: string, variables: NodeJS.ProcessEnv, user: string): string[] {
  if (setting !== '') return [setting];
  const set = [variables['RAWR_HOME'], variables['CODEX_HOME']].filter(
    (one) => one !== undefined && one !== '',
  );
  return [...set, path.join(user, '.rawr'), path.join(user, '.codex')] as string[];
}
