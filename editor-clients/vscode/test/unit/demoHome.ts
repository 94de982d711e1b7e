import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, test } from 'node:test';
import { homeAppears } from '../../src/server/demoHome';

describe('the home of the demo', () => {
  let folder: string;
  let home: string;
  beforeEach(() => {
    folder = mkdtempSync(path.join(tmpdir(), 'rawr-demo-home-'));
    home = path.join(folder, 'home');
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  const never = new Promise<void>(() => undefined);

  test('is waited for', async () => {
    setTimeout(() => mkdirSync(home), 10);
    assert.equal(await homeAppears(home, never, 5_000), true);
  });

  test('is not waited for once the demo has ended', async () => {
    assert.equal(await homeAppears(home, Promise.resolve(), 600_000), false);
    mkdirSync(home);
    assert.equal(await homeAppears(home, Promise.resolve(), 600_000), true);
  });

  test('is waited for only a while', async () => {
    assert.equal(await homeAppears(home, never, 1), false);
  });

  test('a demo that cannot be run is an error', async () => {
    await assert.rejects(homeAppears(home, Promise.reject(new Error('no task')), 600_000), /no task/);
  });

  test('a demo that fails later leaves no unhandled rejection', async () => {
    mkdirSync(home);
    const later = new Promise<void>((_, reject) => setTimeout(() => reject(new Error('late')), 10));
    assert.equal(await homeAppears(home, later, 5_000), true);
    await new Promise((resolve) => setTimeout(resolve, 30));
  });
});
