// Colors for rawr's files: TOML without an extension for TOML, and the placeholders of prompts.
import * as path from 'node:path';
import * as vscode from 'vscode';
import { PROMPTS, TOML_FILES } from '../documents';
import { placeholders } from '../model/placeholders';

const TOML = 'rawr-toml';
const MARKDOWN = { scheme: 'file', language: 'markdown', pattern: PROMPTS };
const LEGEND = new vscode.SemanticTokensLegend(['rawrPlaceholder']);

/**
 * A file name in the manifest would take precedence over the language `toml` of another extension, which can do more. So only a
 * file that no extension knows gets this language.
 */
function colorToml(document: vscode.TextDocument): void {
  const { languageId, uri } = document;
  if (languageId === 'plaintext' && TOML_FILES.includes(path.posix.basename(uri.path)))
    void vscode.languages.setTextDocumentLanguage(document, TOML);
}

const promptTokens: vscode.DocumentSemanticTokensProvider = {
  provideDocumentSemanticTokens(document) {
    const builder = new vscode.SemanticTokensBuilder(LEGEND);
    for (const { line, start, length } of placeholders(document.getText()))
      builder.push(line, start, length, 0);
    return builder.build();
  },
};

export function highlight(): vscode.Disposable {
  const { languages, workspace } = vscode;
  workspace.textDocuments.forEach(colorToml);
  return vscode.Disposable.from(
    workspace.onDidOpenTextDocument(colorToml),
    languages.registerDocumentSemanticTokensProvider(MARKDOWN, promptTokens, LEGEND),
  );
}
