// Where the binary comes from, and the message without one.
import { execFileSync } from 'node:child_process';
import { chmodSync, copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { Lab, type Options, ROOT, rawr } from './lab';

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
  await lab.says(lab.bar, '45% left · asap');
}

/** The package for this platform. */
export function withTheBinaryInside(): string {
  const target = `${process.platform}-${process.arch}`;
  const args = ['scripts/package.mjs', '--binary', rawr(), '--target', target];
  execFileSync(process.execPath, args, { cwd: ROOT, stdio: 'pipe' });
  return path.join(ROOT, 'dist', `rawr-${target}.vsix`);
}

export function journeys(editor: string): void {
  test('the package of a platform includes its binary', async () => {
    const file = withTheBinaryInside();
    try {
      await inWindow(editor, { machine: { 'rawr.server.path': '' }, package: file }, showsAThread);
    } finally {
      rmSync(file);
    }
  });

  test('without a binary one message shows how to install it, and setting its path starts it', async () => {
    await inWindow(editor, { machine: { 'rawr.server.path': '/nowhere/rawr' } }, async (lab) => {
      await lab.says(lab.toast, 'The setting rawr.server.path names /nowhere/rawr, which does not exist.');
      await lab.toast.getByRole('button', { name: 'Open setting' }).waitFor();
      await lab.shot('no-binary');
      lab.settings({});
      await showsAThread(lab);
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
