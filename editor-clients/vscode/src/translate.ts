// Texts in the language of the editor. Each bundle has its own copy of the library.
import * as l10n from '@vscode/l10n';
import * as vscode from 'vscode';

export function translate(): void {
  if (vscode.l10n.bundle) l10n.config({ contents: vscode.l10n.bundle });
}
