// The fixture of the journeys: a VS Code with the packaged extension, a browser, and an agent in the same home.
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { SuiteContext, TestContext } from 'node:test';
import { type BrowserContext, type Frame, type Locator, type Page, chromium } from 'playwright-core';
import type { SequenceRespondParams } from '../../src/protocol';
import { Agent, ended } from './agent';
import { contrastOf } from './contrast';
import { Host } from './host';
import { CLICK_MS, Messages } from './messages';
import { Model, WINDOW } from './model';
import { processesBelow } from './processes';
import { PATIENCE, succeeds, until } from './waiting';

export { succeeds, until };

export const ROOT = process.cwd();
export const SHOTS = path.join(ROOT, 'dist', 'screenshots');

const NO_GALLERY = '{"serviceUrl":"http://127.0.0.1:9/none","itemUrl":"http://127.0.0.1:9/none"}';
const USER_SETTINGS = {
  'workbench.startupEditor': 'none',
  'telemetry.telemetryLevel': 'off',
  'extensions.autoUpdate': false,
  'extensions.autoCheckUpdates': false,
  'workbench.enableExperiments': false,
  'chat.disableAIFeatures': true,
  'workbench.secondarySideBar.defaultVisibility': 'hidden',
};

export function rawr(): string {
  const binary = process.env['RAWR_UNDER_TEST'];
  if (!binary) throw new Error('RAWR_UNDER_TEST must name the rawr binary');
  return path.resolve(binary);
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const address = server.address();
      server.close(() =>
        typeof address === 'object' && address ? resolve(address.port) : reject(new Error('no port')),
      );
    });
  });
}

/** Kills the process group, because an editor has child processes. */
async function endGroup(child: ChildProcess): Promise<void> {
  if (child.pid === undefined || child.exitCode !== null) return;
  const force = setTimeout(() => process.kill(-(child.pid ?? 0), 'SIGKILL'), 10_000);
  process.kill(-child.pid, 'SIGTERM');
  await ended(child);
  clearTimeout(force);
}

export interface Options {
  /** Machine settings in addition to the binary's path. */
  machine?: Record<string, unknown>;
  user?: Record<string, unknown>;
  /** Folders to put first in the PATH. */
  path?: string[];
  /** The package to install instead of the one without the binary. */
  package?: string;
  /** Files to create in the folder before it is opened. */
  plant?: (folder: string) => void;
  /** Keep Workspace Trust on, so that the folder opens restricted. */
  trust?: boolean;
  /** The name of a second folder in the same window. */
  second?: string;
}

export class Lab extends Messages {
  readonly home: string;
  readonly folder: string;
  readonly model: Model;
  private server: ChildProcess | undefined;
  private browser: BrowserContext | undefined;
  private readonly agents: Agent[] = [];
  private window: Page | undefined;

  private constructor(
    private readonly dir: string,
    private readonly editor: string,
    model: Model,
  ) {
    super();
    [this.home, this.folder] = [path.join(dir, 'home'), path.join(dir, 'parser')];
    this.model = model;
  }

  static async open(editor: string, options: Options = {}): Promise<Lab> {
    const lab = new Lab(mkdtempSync(path.join(tmpdir(), 'rawr-editor-')), editor, await Model.start());
    try {
      for (const sub of ['home', 'parser', 'code/home', 'code/user/User', 'code/user/Machine', 'browser'])
        mkdirSync(path.join(lab.dir, sub), { recursive: true });
      lab.settings(options);
      options.plant?.(lab.folder);
      lab.install(options.package ?? path.join(ROOT, 'dist', 'rawr.vsix'));
      const port = await lab.serve(options);
      await lab.look(port, options.second);
      return lab;
    } catch (error) {
      await lab.close();
      throw error;
    }
  }

  /** The extension host is remote: settings with machine scope only count in the machine's file. */
  settings({ machine = {}, user = {} }: Options): void {
    const code = path.join(this.dir, 'code', 'user');
    const ours = { 'rawr.server.path': rawr(), ...machine };
    writeFileSync(path.join(code, 'Machine', 'settings.json'), JSON.stringify(ours));
    writeFileSync(path.join(code, 'User', 'settings.json'), JSON.stringify({ ...USER_SETTINGS, ...user }));
  }

  /** The page reads the user's settings only when it loads. */
  async changeUserSettings(user: Record<string, unknown>): Promise<void> {
    this.settings({ user });
    await this.reload();
  }

  private get environment(): NodeJS.ProcessEnv {
    const home = path.join(this.dir, 'code', 'home');
    return {
      ...process.env,
      CODEX_HOME: undefined,
      HOME: home,
      XDG_CONFIG_HOME: home,
      XDG_CACHE_HOME: home,
      XDG_DATA_HOME: home,
      RAWR_HOME: this.home,
      EXTENSIONS_GALLERY: NO_GALLERY,
    };
  }

  private get folders(): string[] {
    const code = path.join(this.dir, 'code');
    return [
      '--user-data-dir',
      `${code}/user`,
      '--server-data-dir',
      `${code}/server`,
      '--extensions-dir',
      `${code}/extensions`,
    ];
  }

  private get main(): string {
    return path.join(this.editor, 'vscode', 'out', 'server-main.js');
  }

  /** Installs the extension from its package. */
  private install(file: string): void {
    const args = [this.main, '--accept-server-license-terms', ...this.folders, '--install-extension', file];
    execFileSync(path.join(this.editor, 'node'), args, { env: this.environment, stdio: 'pipe' });
  }

  private async serve({ path: before = [], trust = false }: Options): Promise<number> {
    const port = await freePort();
    const args = [this.main, '--host', '127.0.0.1', '--port', String(port), '--without-connection-token'];
    args.push(
      '--accept-server-license-terms',
      '--telemetry-level',
      'off',
      ...this.folders,
      '--default-folder',
      this.folder,
    );
    if (!trust) args.push('--disable-workspace-trust');
    if (readFileSync(this.main, 'utf8').includes('reconnection-grace-time'))
      args.push('--reconnection-grace-time', '2');
    // An editor reads its environment from the login shell.
    const profile = `export PATH=${[...before, '$PATH'].join(':')}\n`;
    writeFileSync(path.join(this.dir, 'code', 'home', '.bash_profile'), profile);
    const environment = { ...this.environment, SHELL: '/bin/bash' };
    const options = { cwd: this.dir, env: environment, detached: true, stdio: 'ignore' } as const;
    this.server = spawn(path.join(this.editor, 'node'), args, options);
    await until(
      'the editor',
      async () => (await fetch(`http://127.0.0.1:${port}/version`).catch(() => undefined))?.ok ?? false,
    );
    return port;
  }

  private async look(port: number, second: string | undefined): Promise<void> {
    const profile = path.join(this.dir, 'browser');
    this.browser = await chromium.launchPersistentContext(profile, {
      executablePath: process.env['CHROMIUM'] ?? '/usr/bin/chromium',
      headless: true,
      viewport: { width: 1280, height: 800 },
      env: { ...process.env, HOME: profile, XDG_CONFIG_HOME: profile, XDG_CACHE_HOME: profile },
      args: [
        '--no-sandbox',
        '--disable-gpu',
        '--disable-quic',
        '--no-first-run',
        '--disable-background-networking',
        '--disable-component-update',
        '--disable-sync',
      ],
    });
    // Block all network requests except to this machine.
    await this.browser.route('**/*', (route) => {
      const { hostname, protocol } = new URL(route.request().url());
      return ['127.0.0.1', 'localhost'].includes(hostname) || ['blob:', 'data:'].includes(protocol)
        ? route.continue()
        : route.abort();
    });
    this.window = this.browser.pages()[0] ?? (await this.browser.newPage());
    this.page.setDefaultTimeout(PATIENCE);
    const opened = second === undefined ? `folder=${this.folder}` : `workspace=${this.workspace(second)}`;
    await this.page.goto(`http://127.0.0.1:${port}/?${opened}`, { waitUntil: 'domcontentloaded' });
    await this.page.locator('.monaco-workbench').waitFor();
  }

  private workspace(second: string): string {
    mkdirSync(path.join(this.dir, second));
    const file = path.join(this.dir, 'both.code-workspace');
    writeFileSync(file, JSON.stringify({ folders: [{ path: this.folder }, { path: second }] }));
    return file;
  }

  configure(toml: string): void {
    writeFileSync(path.join(this.home, 'rawr.toml'), toml);
  }

  agent(folder = this.folder): Agent {
    const args = [
      'exec',
      '--host',
      'embedded',
      '--model',
      'scripted',
      '--base-url',
      this.model.url,
      '--context-window',
      String(WINDOW),
    ];
    const environment = this.environment;
    const child = spawn(rawr(), [...args, '--lines', '--json', '--cd', folder], {
      env: environment,
      stdio: 'pipe',
    });
    const agent = new Agent(child);
    this.agents.push(agent);
    return agent;
  }

  /** A program that runs threads without agents. */
  host(): Promise<Host> {
    return Host.start(rawr(), this.environment, this.folder);
  }

  /** Responds with another client of the same home. */
  async answersElsewhere(answer: SequenceRespondParams): Promise<void> {
    const child = spawn(rawr(), ['serve'], { env: this.environment, stdio: ['pipe', 'pipe', 'ignore'] });
    const said: Buffer[] = [];
    child.stdout.on('data', (piece: Buffer) => said.push(piece));
    const send = (message: object): void => {
      const body = JSON.stringify({ jsonrpc: '2.0', ...message });
      child.stdin.write(`Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`);
    };
    send({ id: 1, method: 'initialize', params: { clientInfo: { name: 'elsewhere' } } });
    const { threadId } = answer;
    const host = { name: 'elsewhere', capabilities: {} };
    const opening = { threadId, cwd: this.folder, role: 'observer', host };
    send({ id: 2, method: 'rawr/thread/open', params: opening });
    send({ id: 3, method: 'rawr/sequence/respond', params: answer });
    send({ id: 4, method: 'shutdown' });
    send({ method: 'exit' });
    await ended(child);
    const answers = Buffer.concat(said).toString();
    if (answers.includes('"error"')) throw new Error(answers);
  }

  /** The events of one kind in the logs of all threads. */
  recorded(kind: string): Record<string, unknown>[] {
    const names = existsSync(this.threads) ? readdirSync(this.threads) : [];
    return names.flatMap((thread) => this.recordedIn(thread, kind));
  }

  recordedIn(thread: string, kind: string): Record<string, unknown>[] {
    const log = readFileSync(path.join(this.threads, thread, 'events.jsonl'), 'utf8');
    const events = log
      .split('\n')
      .filter(Boolean)
      .map((line) => (JSON.parse(line) as { event: Record<string, Record<string, unknown>> }).event);
    return events.flatMap((event) => (event[kind] ? [event[kind]] : []));
  }

  private get threads(): string {
    return path.join(this.home, 'rawr', 'auto_compaction', 'threads');
  }

  get page(): Page {
    if (!this.window) throw new Error('no window is open');
    return this.window;
  }

  get bar(): Locator {
    return this.page.locator('.statusbar-item[id="rawr.rawr.pressure"]');
  }

  get rows(): Locator {
    return this.page.locator('.tree-explorer-viewlet-tree-view .monaco-list-row');
  }

  async says(place: Locator, text: string | RegExp): Promise<void> {
    await place.filter({ hasText: text }).first().waitFor();
  }

  /** In the explorer, because the search for files needs a program that the editor's package does not bring. */
  async openFile(name: string): Promise<void> {
    const row = this.page.locator('.explorer-folders-view .monaco-list-row', { hasText: name });
    const tab = this.page.locator('.tab.active', { hasText: name });
    await until(`the tab of ${name}`, async () => {
      if (!(await row.isVisible())) await this.command('File: Focus on Files Explorer');
      await succeeds(row.dblclick({ timeout: 3_000 }));
      return succeeds(tab.waitFor({ timeout: 3_000 }));
    });
  }

  async openThreads(): Promise<void> {
    if ((await this.rows.count()) === 0) await this.command('Rawr Agents: Focus on Threads View');
    await this.rows.first().waitFor();
  }

  /** The frame of a webview with this element. */
  async frame(selector: string): Promise<Frame> {
    let found: Frame | undefined;
    await until(selector, async () => {
      for (const frame of this.page.frames()) {
        if (
          (await frame
            .locator(selector)
            .count()
            .catch(() => 0)) > 0
        )
          found = frame;
      }
      return found !== undefined;
    });
    if (!found) throw new Error(`no frame has ${selector}`);
    return found;
  }

  /** The process id of the window's sidecar; the agent's sidecar has another parent. */
  sidecar(): number | undefined {
    return this.processes(`${rawr()} serve`)[0];
  }

  /** The processes of the editor whose command line contains this. */
  processes(text: string): number[] {
    return processesBelow(this.server?.pid, text);
  }

  /** Reloads the window. */
  async reload(): Promise<void> {
    await this.page.reload({ waitUntil: 'domcontentloaded' });
    await this.page.locator('.monaco-workbench').waitFor();
  }

  async command(title: string): Promise<void> {
    const row = this.page.locator('.quick-input-list .monaco-list-row').filter({ hasText: title }).first();
    // A palette that was opened before the extension was loaded lacks its commands.
    await until(title, async () => {
      await this.page.keyboard.press('F1');
      // A webview that is being loaded ignores the key.
      const input = this.page.locator('.quick-input-widget input');
      if (!(await succeeds(input.fill(`>${title}`, { timeout: 3_000 })))) return false;
      const isThere = await succeeds(row.waitFor({ timeout: 3_000 }));
      await (isThere ? row.click() : this.page.keyboard.press('Escape'));
      return isThere;
    });
  }

  /** Runs a command from the palette, with the keyboard only. */
  async typeCommand(title: string): Promise<void> {
    const row = this.page.locator('.quick-input-list .monaco-list-row.focused').filter({ hasText: title });
    await until(title, async () => {
      await this.page.keyboard.press('F1');
      await this.page.keyboard.type(title);
      const isThere = await succeeds(row.waitFor({ timeout: 3_000 }));
      await this.page.keyboard.press(isThere ? 'Enter' : 'Escape');
      return isThere;
    });
  }

  /** Runs a command from the menu of a row. */
  async menu(row: Locator, title: string): Promise<void> {
    const item = this.page.locator('.monaco-menu .action-label').filter({ hasText: title }).first();
    // Rows are redrawn after each change, and a menu ignores a click right after it opens.
    const choose = async (): Promise<void> => {
      if (!(await item.isVisible())) await row.click({ button: 'right', timeout: 3_000 });
      await item.click({ timeout: CLICK_MS });
      await item.waitFor({ state: 'hidden', timeout: 3_000 });
    };
    await until(`${title} in a menu`, () => succeeds(choose()));
  }

  /** Selects an entry of a quick pick. */
  async choose(label: string): Promise<void> {
    await this.page.locator('.quick-input-list .monaco-list-row').filter({ hasText: label }).first().click();
  }

  /** The contrast of an element's color with what is behind it. */
  contrast(of: Locator): Promise<number> {
    return of.first().evaluate(contrastOf);
  }

  async shot(name: string): Promise<void> {
    const to = path.join(SHOTS, path.basename(this.editor));
    mkdirSync(to, { recursive: true });
    await this.page.screenshot({ path: path.join(to, `${name}.png`), animations: 'disabled' });
  }

  /** Stores the visible state of a failed journey. */
  async witness(context: TestContext | SuiteContext): Promise<void> {
    if (!('diagnostic' in context && 'passed' in context) || context.passed) return;
    await this.shot(`failed-${context.name.slice(0, 40)}`);
    for (const [place, seen] of Object.entries({ bar: this.bar, toast: this.toast, tree: this.rows }))
      for (const text of await seen.allInnerTexts())
        context.diagnostic(`${place}: ${text.replace(/\s+/g, ' ')}`);
    context.diagnostic(`agent: ${this.agents.at(-1)?.said.slice(-1000) ?? 'none'}`);
  }

  async close(): Promise<void> {
    for (const agent of this.agents) await agent.leave();
    // A closed window stops its sidecar at once.
    await this.window?.goto('about:blank').catch(() => undefined);
    await this.browser?.close();
    if (this.server) await endGroup(this.server);
    this.model.stop();
    rmSync(this.dir, { recursive: true, force: true });
  }
}
