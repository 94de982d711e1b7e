import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, test } from 'node:test';
import { FolderWatch } from '../../src/server/folderWatch';

describe('the watch for the first file of rawr', () => {
  let user: string;
  let watched: FolderWatch | undefined;

  beforeEach(() => {
    user = mkdtempSync(path.join(tmpdir(), 'rawr-homes-'));
  });
  afterEach(() => {
    watched?.dispose();
    rmSync(user, { recursive: true });
  });

  const homes = (): string[] => ['.rawr', '.codex'].map((name) => path.join(user, name));
  const make = (...parts: string[]): void => void mkdirSync(path.join(user, ...parts), { recursive: true });
  /** Resolves with what calls. */
  const called = (folders: string[]): Promise<void> =>
    new Promise((resolve) => {
      watched = new FolderWatch(folders, resolve);
      assert.equal(watched.found, false);
      watched.begin();
    });

  test('finds what is there, and takes no folder of Codex alone for it', () => {
    make('.codex', 'sessions');
    assert.equal(new FolderWatch(homes(), () => undefined).found, false);
    make('.codex', 'rawr');
    assert.equal(new FolderWatch(homes(), () => undefined).found, true);
  });

  test('calls when a home appears and is written into later', async () => {
    const appeared = called(homes());
    make('.rawr');
    setTimeout(() => make('.rawr', 'auto-compact'), 50);
    await appeared;
  });

  test('calls when Codex has a folder and rawr begins to use it', async () => {
    make('.codex');
    const appeared = called(homes());
    make('.codex', 'sessions');
    writeFileSync(path.join(user, '.codex', 'rawr.toml'), '');
    await appeared;
  });

  test('waits for nothing in a folder that does not exist', () => {
    watched = new FolderWatch([path.join(user, 'no', 'such')], () => undefined);
    watched.begin();
    assert.equal(watched.found, false);
  });
});
