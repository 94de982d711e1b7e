// What a report of a problem needs, as Markdown without secrets.

export interface DebugFacts {
  /** Names with versions and states. */
  facts: Record<string, string>;
  /** The settings that are not the defaults. */
  settings: Record<string, unknown>;
  /** The output of `rawr doctor`. */
  doctor: string;
  log: string;
  /** The user's home folder, which is not told. */
  home: string;
}

const LOG_LINES = 40;

const SECRETS: [RegExp, string][] = [
  [/\b(bearer|basic)\s+[\w.~+/=-]+/gi, '$1 …'],
  [/\b(sk|ghp|gho|xox[a-z])[-_][\w-]{8,}/g, '…'],
  [/((?:key|token|secret|password)["']?\s*[=:]\s*["']?)[^\s"',]+/gi, '$1…'],
  [/(:\/\/)[^\s/@]+@/g, '$1…@'],
];

export function debugInformation({ facts, settings, doctor, log, home }: DebugFacts): string {
  const list = Object.entries(facts).map(([name, value]) => `- ${name}: ${value}`);
  const changed = Object.entries(settings).map(([name, value]) => `- ${name}: ${settingText(value)}`);
  const parts = [
    list.join('\n'),
    section('Settings', changed.join('\n') || 'defaults'),
    section('rawr doctor', fenced(doctor)),
    section('Log', fenced(log.trimEnd().split('\n').slice(-LOG_LINES).join('\n'))),
  ];
  return withoutSecrets(parts.join('\n\n'), home);
}

/** Lists are arguments, which may contain anything. */
function settingText(value: unknown): string {
  return Array.isArray(value) ? `${value.length} arguments` : JSON.stringify(value);
}

function section(title: string, text: string): string {
  return `## ${title}\n\n${text}`;
}

function fenced(text: string): string {
  return `~~~text\n${text.trim() || 'nothing'}\n~~~`;
}

function withoutSecrets(text: string, home: string): string {
  const masked = SECRETS.reduce((all, [secret, mask]) => all.replace(secret, mask), text);
  return home === '' ? masked : masked.replaceAll(home, '~');
}
