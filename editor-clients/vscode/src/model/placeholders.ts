// The placeholders of a prompt, such as `{packet}`. The sidecar knows which of them exist.

export interface Placeholder {
  line: number;
  start: number;
  length: number;
}

export function placeholders(text: string): Placeholder[] {
  return text.split('\n').flatMap((content, line) =>
    [...content.matchAll(/\{[a-z][A-Za-z_]*\}/g)].map(({ index, 0: found }) => ({
      line,
      start: index,
      length: found.length,
    })),
  );
}
