// VS Code's own language client, on as much of the editor as it needs. It knows which server to start and which files to
// open, and nothing else. Arguments: the server, its arguments, and behind `--` the files. Prints one JSON object a file.
'use strict';

const Module = require('node:module');
const { readFileSync } = require('node:fs');
const { events, problems, providers, told, vscode } = require('./vscode.js');

const load = Module._load;
Module._load = (name, ...rest) => (name === 'vscode' ? vscode : load(name, ...rest));
const { LanguageClient } = require('vscode-languageclient/node');

const SLIP = 'é 🦀 {nothing_like_it}';

function documentOf(file) {
  let text = readFileSync(file, 'utf8');
  const uri = vscode.Uri.file(file);
  const positionAt = (offset) => {
    const before = text.slice(0, offset).split('\n');
    return new vscode.Position(before.length - 1, before.at(-1).length);
  };
  return {
    uri, fileName: file, languageId: 'markdown', version: 1, isDirty: false, isClosed: false, positionAt,
    getText: () => text,
    append(more) {
      const end = positionAt(text.length);
      const change = { range: new vscode.Range(end, end), rangeOffset: text.length, rangeLength: 0, text: more };
      text += more;
      this.version += 1;
      events.change.fire({ document: this, contentChanges: [change], reason: undefined });
    },
  };
}

const toldOf = (uri, act) => new Promise((done) => {
  const listening = told.event((of) => { if (of === uri.toString()) { listening.dispose(); done(problems.get(of)); } });
  act();
});

const plain = (text) => (Array.isArray(text) ? text : [text]).map((one) => one.value ?? one).join('\n');

async function lookAt(file, client) {
  const document = documentOf(file);
  const { token } = new vscode.CancellationTokenSource();
  vscode.workspace.textDocuments.push(document);
  const clean = await toldOf(document.uri, () => events.open.fire(document));
  const lenses = await providers.codeLens.provideCodeLenses(document, token);
  const text = document.getText();
  const placeholder = /\{[A-Za-z_]+\}/.exec(text);
  const at = placeholder && document.positionAt(placeholder.index + 1);
  const hover = at && await providers.hover.provideHover(document, at, token);
  const items = at && await providers.completion.provideCompletionItems(document, at, token, { triggerKind: 0 });
  const last = document.positionAt(text.length).line;
  const slip = await toldOf(document.uri, () => document.append(`\n${SLIP}`));
  return {
    file,
    encoding: client.initializeResult.capabilities.positionEncoding,
    clean: clean.length,
    lenses: lenses.map((lens) => lens.command.title),
    hover: hover ? plain(hover.contents) : null,
    labels: (items?.items ?? items ?? []).map((item) => item.label.label ?? item.label),
    slip: slip
      .filter((problem) => (problem.code?.value ?? problem.code) === 'unknown-placeholder')
      .map(({ range: { start, end } }) => [start.line - last - 1, start.character, end.character]),
    version: document.version,
  };
}

async function main(argv) {
  const end = argv.indexOf('--');
  const [command, ...args] = argv.slice(0, end);
  const server = { command, args };
  const client = new LanguageClient('server', 'server', server, { documentSelector: [{ scheme: 'file' }] });
  await client.start();
  for (const file of argv.slice(end + 1)) console.log(JSON.stringify(await lookAt(file, client)));
  await client.stop();
}

main(process.argv.slice(2)).then(() => process.exit(0), (error) => {
  console.error(error);
  process.exit(1);
});
