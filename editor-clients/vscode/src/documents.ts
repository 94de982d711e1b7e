// The documents that are rawr's.
import * as vscode from 'vscode';

/** May be sent to the sidecar, which ignores those that are not rawr's. */
export const SERVED = ['**/{rawr,.rawr}.toml', '**/auto-compact/*.md'].map((pattern) => ({
  scheme: 'file',
  pattern,
}));

/** Whether something is shown in it: also the colors of policy tests, and what the sidecar finds in Codex's configuration. */
export function isOurs(document: vscode.TextDocument, homes: readonly string[]): boolean {
  const configs = homes.map((home) => new vscode.RelativePattern(vscode.Uri.file(home), 'config.toml'));
  const others = ['**/rawr.tests.toml', ...configs].map((pattern) => ({ scheme: 'file', pattern }));
  return vscode.languages.match([...SERVED, ...others], document) > 0;
}
