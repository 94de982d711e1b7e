// Markdown for tooltips, from untrusted texts.

/** Escapes a text, so that it has no markup, links or line breaks. */
export function escaped(text: string): string {
  return text
    .replace(/\s+/g, ' ')
    .replace(/[\\`*_{}[\]()#+\-.!~|<>:]/g, '\\$&')
    .replace(/&/g, '&amp;');
}

export interface Link {
  label: string;
  command: string;
  argument?: unknown;
}

/** A link to a command. Its title is what the editor shows instead of the command's name. */
export function link({ label, command, argument }: Link): string {
  const query = argument === undefined ? '' : `?${encoded([argument])}`;
  return `[${escaped(label)}](command:${command}${query} "${label.replace(/["\\]/g, '')}")`;
}

function encoded(value: unknown): string {
  return encodeURIComponent(JSON.stringify(value)).replace(/[()]/g, (one) => (one === '(' ? '%28' : '%29'));
}
