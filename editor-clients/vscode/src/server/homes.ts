// The folders that may be rawr's home. The sidecar knows which one it is.
import * as path from 'node:path';

export function possibleHomes(setting: string, variables: NodeJS.ProcessEnv, user: string): string[] {
  if (setting !== '') return [setting];
  const set = [variables['RAWR_HOME'], variables['CODEX_HOME']].filter(
    (one) => one !== undefined && one !== '',
  );
  return [...set, path.join(user, '.rawr'), path.join(user, '.codex')] as string[];
}
