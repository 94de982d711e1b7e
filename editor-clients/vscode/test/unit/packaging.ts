import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { describe, test } from 'node:test';

function node(...args: string[]): { status: number | null; stdout: string; stderr: string } {
  return spawnSync(process.execPath, args, { encoding: 'utf8' });
}

describe('the package script', () => {
  test('reports a mistake in its options in a sentence, without a stack trace', () => {
    const mistakes: [string[], string][] = [
      [['--binary', '/nowhere/rawr', '--target', 'linux-x64'], '--binary: /nowhere/rawr is not a file'],
      [['--target', 'linux-x64'], '--binary and --target are used together'],
    ];
    for (const [args, message] of mistakes) {
      const { status, stderr } = node('scripts/package.mjs', ...args);
      const [first, second] = stderr.split('\n');
      assert.deepEqual([status, first], [2, message]);
      assert.match(second ?? '', /^usage: /);
      assert.doesNotMatch(stderr, /^ {4}at /m);
    }
  });

  test('collects the license of each package in the bundle', () => {
    const code = "import('./scripts/notices.mjs').then(({ notices }) => process.stdout.write(notices()))";
    const { stdout } = node('-e', code);
    for (const name of ['vscode-languageclient', 'vscode-jsonrpc', '@vscode/l10n'])
      assert.match(stdout, new RegExp(`^${name} [\\d.]+ \\(MIT\\)$`, 'm'));
    assert.match(stdout, /Permission is hereby granted/);
  });
});

describe('the page of the extension', () => {
  const readme = readFileSync('README.md', 'utf8');

  test('links only to what the package contains', () => {
    const targets = [...readme.matchAll(/\]\(([^)]+)\)/g)].map(([, target]) => target);
    assert.deepEqual(targets, ['media/banner.png']);
  });

  test('tells how to install it, and which sessions it shows', () => {
    for (const text of [
      '## Install',
      '## Settings',
      '## Commands',
      'Which sessions does it show?',
      'machine',
    ])
      assert.ok(readme.includes(text), text);
  });
});
