// Command lines of `rawr` for a terminal's shell.

/** A word for a POSIX shell. */
function quoted(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", String.raw`'\''`)}'`;
}

export function commandLine(binary: string, home: string, args: readonly string[]): string {
  const [command = '', ...rest] = args;
  return [binary, command, ...(home === '' ? [] : ['--home', home]), ...rest].map(quoted).join(' ');
}
