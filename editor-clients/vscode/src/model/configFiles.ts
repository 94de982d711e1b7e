// The configuration files that exist: those in force, and those whose problems keep them from it.
import type { ConfigGetResult } from '../protocol';

export function configFiles({ layers, problems }: Pick<ConfigGetResult, 'layers' | 'problems'>): string[] {
  const files = [...layers, ...problems.flatMap(({ file }) => file ?? [])];
  return [...new Set(files)].filter((file) => file.endsWith('.toml'));
}
