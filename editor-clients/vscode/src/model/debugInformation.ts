// What a report of a problem needs from the editor. The binary removes secrets and adds what it knows itself.

export interface DebugFacts {
  /** Names with versions and states. */
  facts: Record<string, string>;
  /** The settings that are not the defaults. */
  settings: Record<string, unknown>;
  log: string;
}

const LOG_LINES = 40;

/** For `rawr doctor --report --append -`. */
export function debugInformation({ facts, settings, log }: DebugFacts): string {
  const changed = Object.entries(settings).map(([name, value]) => `${name}: ${settingText(value)}`);
  const lines = log.trimEnd().split('\n').slice(-LOG_LINES);
  return [
    ...factLines(facts),
    '',
    'Settings:',
    ...(changed.length > 0 ? changed : ['defaults']),
    '',
    'Log:',
    ...lines,
  ].join('\n');
}

/** Without a binary, nothing tells secrets from other texts: only names and versions. */
export function plainDebugInformation({ facts, settings }: DebugFacts): string {
  const changed = Object.keys(settings).map((name) => `${name} is set, its value is left out`);
  return [...factLines(facts), ...changed].join('\n');
}

function factLines(facts: Record<string, string>): string[] {
  return Object.entries(facts).map(([name, value]) => `${name}: ${value}`);
}

/** Lists are arguments, which may contain anything. */
function settingText(value: unknown): string {
  return Array.isArray(value) ? `${value.length} arguments` : JSON.stringify(value);
}
