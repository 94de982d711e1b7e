import assert from 'node:assert/strict';
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';
import { run } from '../../src/server/run';
import { offerInTerminals, terminalFolder } from '../../src/server/terminals';

describe('the PATH of terminals', () => {
  const places = { extension: '/ext', path: '/usr/bin:/opt/bin' };
  const folder = (origin: 'bundled' | 'path' | 'setting', ...files: string[]): string | undefined =>
    terminalFolder({ origin }, places, (file) => files.includes(file));

  test('gets the folder of the bundled binary that the extension uses', () => {
    assert.equal(folder('bundled', '/ext/server/rawr'), '/ext/server');
    assert.equal(folder('bundled', '/ext/server/rawr', '/opt/bin/rawr'), '/ext/server');
  });

  test('gets it beside a setting only if it has no rawr', () => {
    assert.equal(folder('setting', '/ext/server/rawr'), '/ext/server');
    assert.equal(folder('setting', '/ext/server/rawr', '/opt/bin/rawr'), undefined);
  });

  test('is unchanged by a package without the binary', () => {
    assert.equal(folder('path', '/opt/bin/rawr'), undefined);
  });

  test('is changed once, after the own folders of the user, and is restored', () => {
    const extensionPath = mkdtempSync(path.join(tmpdir(), 'rawr-terminals-'));
    const changes: string[] = [];
    let value: string | undefined;
    const collection = {
      get: () => (value === undefined ? undefined : { value }),
      append: (_: string, added: string) => void changes.push(`append ${(value = added)}`),
      delete: () => void changes.push(`delete ${(value = undefined)}`),
    };
    const context = { extensionPath, environmentVariableCollection: collection } as unknown;
    const offer = (): void =>
      offerInTerminals(context as Parameters<typeof offerInTerminals>[0], { origin: 'bundled' });
    const server = path.join(extensionPath, 'server');
    mkdirSync(server);
    writeFileSync(path.join(server, 'rawr'), '');
    offer();
    offer();
    rmSync(extensionPath, { recursive: true });
    offer();
    assert.deepEqual(changes, [`append :${server}`, 'delete undefined']);
  });
});

describe('a program', () => {
  let folder: string;
  before(() => (folder = mkdtempSync(path.join(tmpdir(), 'rawr-run-'))));
  after(() => rmSync(folder, { recursive: true }));
  const script = (text: string): string => {
    const file = path.join(folder, 'program');
    writeFileSync(file, `#!/bin/sh\n${text}\n`);
    chmodSync(file, 0o755);
    return file;
  };

  test('returns its output', async () => {
    assert.equal(await run(script('echo "$@"'), ['a  b'], 5_000), 'a  b\n');
  });

  test('that hangs is stopped, with a sentence', async () => {
    await assert.rejects(run(script('exec sleep 30'), [], 500), /^Error: it did not answer in 0\.5 s$/);
  });

  test('that fails tells why with its own words', async () => {
    await assert.rejects(run(script('echo no room >&2; exit 3'), [], 5_000), /^Error: no room$/);
  });
});
