// Shows a text that the sidecar serves, at its request.
import * as l10n from '@vscode/l10n';
import * as vscode from 'vscode';

/** Opens a text that the sidecar serves. A diff opens in the diff editor. */
export async function showServed(uri: vscode.Uri): Promise<void> {
  const prompt = vscode.window.activeTextEditor?.document.uri;
  const isDiff = uri.authority === 'diff';
  if (isDiff && prompt?.scheme === 'file') {
    const title = l10n.t('{0}: as shipped ↔ yours', uri.path.slice(1));
    await vscode.commands.executeCommand('vscode.diff', uri.with({ authority: 'shipped' }), prompt, title);
    return;
  }
  const document = await vscode.workspace.openTextDocument(uri);
  await vscode.languages.setTextDocumentLanguage(document, isDiff ? 'diff' : 'markdown');
  const viewColumn = vscode.ViewColumn.Beside;
  await vscode.window.showTextDocument(document, { viewColumn, preserveFocus: true, preview: true });
}
