// The documents that are rawr's.
import * as vscode from 'vscode';

export const PROMPTS = '**/auto-compact/*.md';
const CONFIGS = ['rawr.toml', '.rawr.toml'];
/** Also the policy tests, which the sidecar does not check. */
export const TOML_FILES = [...CONFIGS, 'rawr.tests.toml'];

const files = (patterns: readonly string[]): { scheme: string; pattern: string }[] =>
  patterns.map((pattern) => ({ scheme: 'file', pattern }));

/** May be sent to the sidecar, which ignores those that are not rawr's. */
export const SERVED = files([`**/{${CONFIGS.join()}}`, PROMPTS]);
const SHOWN = files([`**/{${TOML_FILES.join()}}`, PROMPTS]);

/** Whether something is shown in it; also what the sidecar finds in Codex's configuration. */
export function isOurs(document: vscode.TextDocument, homes: readonly string[]): boolean {
  const configs = homes.map((home) => ({
    scheme: 'file',
    pattern: new vscode.RelativePattern(vscode.Uri.file(home), 'config.toml'),
  }));
  return vscode.languages.match([...SHOWN, ...configs], document) > 0;
}
