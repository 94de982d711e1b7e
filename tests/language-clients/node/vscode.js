// As much of the module `vscode` as its language client needs to work outside of the editor: data types, events, and a
// place where it hands in what it can do. What a test does not look at does nothing.
'use strict';

const path = require('node:path');

class Disposable {
  constructor(dispose) { this.end = dispose; }
  dispose() { this.end?.(); }
  static from(...all) { return new Disposable(() => all.forEach((one) => one.dispose())); }
}

class EventEmitter {
  listeners = new Set();
  event = (listener, self, disposables) => {
    const bound = self ? listener.bind(self) : listener;
    this.listeners.add(bound);
    const disposable = new Disposable(() => this.listeners.delete(bound));
    disposables?.push(disposable);
    return disposable;
  };
  fire(value) { for (const listener of [...this.listeners]) listener(value); }
  dispose() { this.listeners.clear(); }
}

class Uri {
  constructor(text) {
    const url = new URL(text);
    Object.assign(this, { text, scheme: url.protocol.slice(0, -1), path: decodeURIComponent(url.pathname), authority: url.host, query: '', fragment: '' });
  }
  get fsPath() { return this.path; }
  toString() { return this.text; }
  with() { return this; }
  static parse(text) { return new Uri(text); }
  static file(file) { return new Uri(require('node:url').pathToFileURL(path.resolve(file)).href); }
}

class Position {
  constructor(line, character) { Object.assign(this, { line, character }); }
  isBefore(other) { return this.line < other.line || (this.line === other.line && this.character < other.character); }
}

class Range {
  constructor(...of) {
    const [start, end] = of.length === 4 ? [new Position(of[0], of[1]), new Position(of[2], of[3])] : of;
    Object.assign(this, { start, end });
  }
}

// Things that only hold what they are given.
const holder = (...names) => class {
  constructor(...values) { names.forEach((name, index) => { if (values[index] !== undefined) this[name] = values[index]; }); }
};
const Diagnostic = holder('range', 'message', 'severity');
const Hover = holder('contents', 'range');
const CompletionItem = holder('label', 'kind');
const CodeLens = holder('range', 'command');
const DocumentLink = holder('range', 'target');
const InlayHint = holder('position', 'label', 'kind');
const Location = holder('uri', 'range');
const MarkdownString = class { constructor(value = '') { this.value = value; } appendMarkdown(text) { this.value += text; return this; } appendCodeblock(text) { this.value += text; return this; } };

class CancellationTokenSource {
  emitter = new EventEmitter();
  token = { isCancellationRequested: false, onCancellationRequested: this.emitter.event };
  cancel() { this.token.isCancellationRequested = true; this.emitter.fire(); }
  dispose() { this.emitter.dispose(); }
}

const nothing = () => new Disposable(() => {});
// Whatever else is asked for: events that never come, functions that do nothing, classes that hold nothing.
const rest = (known) => new Proxy(known, {
  get(target, name) {
    if (name in target || typeof name === 'symbol' || name === 'then') return target[name];
    if (/^on(Did|Will)/.test(name)) return (target[name] = new EventEmitter().event);
    if (/^[A-Z]/.test(name)) return (target[name] = rest(class {}));
    return (target[name] = nothing);
  },
});

const events = { open: new EventEmitter(), change: new EventEmitter(), close: new EventEmitter() };
const providers = {};
const problems = new Map();
const told = new EventEmitter();
const register = (name) => (selector, provider) => { providers[name] = provider; return nothing(); };

const workspace = rest({
  textDocuments: [],
  notebookDocuments: [],
  workspaceFolders: undefined,
  onDidOpenTextDocument: events.open.event,
  onDidChangeTextDocument: events.change.event,
  onDidCloseTextDocument: events.close.event,
  getConfiguration: () => ({ get: (_, otherwise) => otherwise, has: () => false, inspect: () => undefined }),
  createFileSystemWatcher: () => rest({ dispose() {} }),
});

const channel = () => rest({ appendLine() {}, append() {}, show() {}, dispose() {}, logLevel: 2 });
const window = rest({
  activeTextEditor: undefined,
  visibleTextEditors: [],
  tabGroups: rest({ all: [] }),
  createOutputChannel: channel,
});

const languages = rest({
  match: () => 10,
  createDiagnosticCollection: () => rest({
    set(uri, list) { problems.set(uri.toString(), list ?? []); told.fire(uri.toString()); },
    delete(uri) { problems.delete(uri.toString()); },
    clear() { problems.clear(); },
    dispose() {},
  }),
  registerHoverProvider: register('hover'),
  registerCompletionItemProvider: register('completion'),
  registerCodeLensProvider: register('codeLens'),
});

module.exports = {
  events, providers, problems, told,
  vscode: rest({
    version: '1.106.0',
    env: rest({ appName: 'test', language: 'en' }),
    workspace, window, languages,
    commands: rest({}),
    extensions: rest({ all: [] }),
    Disposable, EventEmitter, Uri, Position, Range, Diagnostic, Hover, CompletionItem, CodeLens, DocumentLink, InlayHint,
    Location, MarkdownString, CancellationTokenSource,
    CancellationError: class extends Error {},
    Selection: Range,
    DiagnosticSeverity: { Error: 0, Warning: 1, Information: 2, Hint: 3 },
    CompletionItemKind: new Proxy({}, { get: (_, name) => name }),
    LogLevel: { Off: 0, Trace: 1, Debug: 2, Info: 3, Warning: 4, Error: 5 },
  }),
};
