// Where the binary comes from, and the message without one.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { chmodSync, copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { Lab, type Options, ROOT, rawr } from './lab';
import { useTheme } from './themes';

async function inWindow(editor: string, options: Options, look: (lab: Lab) => Promise<void>): Promise<void> {
  const lab = await Lab.open(editor, options);
  try {
    await look(lab);
  } catch (error) {
    await lab.shot('failed-places');
    throw error;
  } finally {
    await lab.close();
  }
}

async function showsAThread(lab: Lab): Promise<void> {
  lab.configure('[rawr_auto_compaction]\nmode = "tag"\n');
  lab.agent().prompt('write the parser');
  await lab.says(lab.bar, '45% left · ready');
}

/** Makes the package for this platform, which exists for as long as it is used: several suites make it at the same time. */
export async function withTheBinaryInside<T>(use: (file: string) => Promise<T>): Promise<T> {
  const target = `${process.platform}-${process.arch}`;
  const folder = mkdtempSync(path.join(tmpdir(), 'rawr-package-'));
  try {
    const file = path.join(folder, `rawr-${target}.vsix`);
    const args = ['scripts/package.mjs', '--binary', rawr(), '--target', target, '--out', file];
    execFileSync(process.execPath, args, { cwd: ROOT, stdio: 'pipe' });
    return await use(file);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** The files of the themes of most users. */
const THEMES = ['dark_modern', 'light_modern', 'dark_plus', 'light_plus'];

export function journeys(editor: string): void {
  test('the package of a platform includes its binary', async () => {
    await withTheBinaryInside((file) =>
      inWindow(editor, { machine: { 'rawr.server.path': '' }, package: file }, showsAThread),
    );
  });

  test('without a binary one message shows how to install it, and setting its path starts it', async () => {
    await inWindow(editor, { machine: { 'rawr.server.path': '/nowhere/rawr' } }, async (lab) => {
      await lab.hears('The setting rawr.server.path names /nowhere/rawr, which does not exist.');
      await lab.offers('Open Setting');
      await lab.says(lab.bar, 'rawr');
      await lab.command('Rawr Agents: Focus on Threads View');
      await lab.says(lab.page.locator('.welcome-view-content'), 'rawr is not installed');
      await lab.shot('no-binary');
      // A command fails at once.
      await lab.command('Rawr: Open a Prompt…');
      await lab.offers('Try Again');
      lab.settings({});
      await showsAThread(lab);
    });
  });

  const SCRIPTS: [name: string, script: string, said: string][] = [
    ['crashes at start', 'exit 3', 'The rawr sidecar ended repeatedly'],
    ['is of another release', `exec node ${path.join(ROOT, 'test/editor/old-sidecar.mjs')}`, 'is too old'],
  ];
  for (const [name, script, said] of SCRIPTS) {
    test(`a binary that ${name} gives one message`, async () => {
      const bin = mkdtempSync(path.join(tmpdir(), 'rawr-bad-'));
      const binary = path.join(bin, 'rawr');
      const version = '[ "$1" = --version ] && echo rawr 0.0.1 && exit';
      writeFileSync(binary, `#!/bin/sh\n${version}\n${script}\n`);
      chmodSync(binary, 0o755);
      try {
        await inWindow(editor, { machine: { 'rawr.server.path': binary } }, async (lab) => {
          await lab.hears(said);
          assert.equal(await lab.toast.count(), 1);
          await lab.says(lab.bar, 'rawr');
          await lab.shot(`binary-${script.slice(0, 4)}`);
          assert.equal(lab.processes('old-sidecar').length, 0);
        });
      } finally {
        rmSync(bin, { recursive: true });
      }
    });
  }

  test('texts are readable in the default themes', async () => {
    await inWindow(editor, {}, async (lab) => {
      await showsAThread(lab);
      for (const theme of THEMES) {
        await useTheme(lab, editor, theme);
        await lab.openThreads();
        const icon = lab.rows.first().locator('.custom-view-tree-node-item-icon');
        const ratios = { bar: await lab.contrast(lab.bar.locator('a')), icon: await lab.contrast(icon) };
        for (const [what, ratio] of Object.entries(ratios))
          assert.ok(ratio >= 4.5, `${theme}: ${what} ${ratio}`);
        await lab.shot(`theme-${theme}`);
      }
    });
  });

  test('a binary in an untrusted folder is ignored, and the one in the PATH is found', async () => {
    const bin = mkdtempSync(path.join(tmpdir(), 'rawr-path-'));
    copyFileSync(rawr(), path.join(bin, 'rawr'));
    const plant = (folder: string): void => {
      mkdirSync(path.join(folder, 'bin'));
      const planted = path.join(folder, 'bin', 'rawr');
      writeFileSync(planted, '#!/bin/sh\ntouch "$(dirname "$0")/ran"\n');
      chmodSync(planted, 0o755);
    };
    try {
      const options = { machine: { 'rawr.server.path': '' }, path: [bin], trust: true, plant };
      await inWindow(editor, options, async (lab) => {
        await lab.says(lab.page.locator('.statusbar-item'), 'Restricted Mode');
        await showsAThread(lab);
      });
    } finally {
      rmSync(bin, { recursive: true });
    }
  });

  test('a window with two folders shows the threads of both', async () => {
    await inWindow(editor, { second: 'lexer' }, async (lab) => {
      await showsAThread(lab);
      lab.agent(path.join(path.dirname(lab.folder), 'lexer')).prompt('write the lexer');
      await lab.openThreads();
      await lab.says(lab.rows, 'parser');
      await lab.says(lab.rows, 'lexer');
      await lab.shot('two-folders');
    });
  });
}
