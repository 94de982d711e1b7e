import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { NoBinary, type Places, type System, find } from '../../src/server/binary';
import { BackOff, Serial } from '../../src/server/restarts';

const PLACES: Places = {
  setting: '',
  folders: ['/w'],
  path: '/usr/bin:/opt/bin:relative',
  extension: '/ext',
  home: '/home/me',
};

function system(files: Record<string, string>): System {
  return {
    isFile: (path) => path in files,
    version: (path) => Promise.resolve(files[path] ?? ''),
  };
}

const ALL = {
  '/set/rawr': 'rawr 9.0.0\n',
  '/w/bin/rawr': 'rawr 1.0.0\n',
  '/opt/bin/rawr': 'rawr 2.0.0\n',
  '/ext/server/rawr': 'rawr 3.0.0\n',
};

describe('the binary', () => {
  test('is found in the setting, then the extension, then the PATH', async () => {
    const found = async (places: Partial<Places>, files: Record<string, string>): Promise<string> =>
      (await find({ ...PLACES, ...places }, system(files))).origin;
    assert.equal(await found({ setting: '/set/rawr' }, ALL), 'setting');
    assert.equal(await found({}, ALL), 'bundled');
    assert.equal(await found({ extension: '/none' }, ALL), 'path');
  });

  test('an invalid setting is an error', async () => {
    await assert.rejects(
      find({ ...PLACES, setting: '/gone/rawr' }, system(ALL)),
      /rawr\.server\.path names \/gone\/rawr/,
    );
  });

  test('a missing binary is one error', async () => {
    await assert.rejects(find(PLACES, system({})), NoBinary);
    await assert.rejects(find(PLACES, system({})), /is not installed.*rawr\.server\.path/);
  });

  test('a relative folder in the PATH is skipped', async () => {
    await assert.rejects(find(PLACES, system({ 'relative/rawr': 'rawr 1.0.0' })), NoBinary);
  });

  test('a binary in an open folder is only started if the setting names it', async () => {
    const files = { '/w/bin/rawr': 'rawr 1.0.0', '/w/node_modules/.bin/rawr': 'rawr 1.0.0' };
    await assert.rejects(find(PLACES, system(files)), NoBinary);
    const named = { ...PLACES, setting: '${workspaceFolder}/bin/rawr' };
    assert.equal((await find(named, system(files))).path, '/w/bin/rawr');
  });

  test('another program with that name is skipped', async () => {
    const other = { '/usr/bin/rawr': 'dinosaur 1' };
    const found = await find(PLACES, system({ ...other, '/opt/bin/rawr': 'rawr 2.0.0' }));
    assert.equal(found.path, '/opt/bin/rawr');
    await assert.rejects(find(PLACES, system(other)), /is not installed.*\/usr\/bin\/rawr is not rawr/);
  });

  test('a setting may contain ~ and the workspace folder', async () => {
    const files = { '/home/me/rawr': 'rawr 1.0.0', '/w/x/rawr': 'rawr 1.0.0' };
    const path = async (setting: string): Promise<string> =>
      (await find({ ...PLACES, setting }, system(files))).path;
    assert.equal(await path('~/rawr'), '/home/me/rawr');
    assert.equal(await path('${workspaceFolder}/x/rawr'), '/w/x/rawr');
  });
});

describe('restarts', () => {
  test('each failure in a row doubles the wait, and after six there is no restart', () => {
    const backOff = new BackOff();
    const waits = Array.from({ length: 6 }, () => backOff.ended(10));
    assert.deepEqual(waits, [500, 1000, 2000, 4000, 8000, undefined]);
  });

  test('a long run or a manual restart resets the wait', () => {
    const backOff = new BackOff();
    backOff.ended(10);
    assert.equal(backOff.ended(120_000), 500);
    backOff.ended(10);
    backOff.reset();
    assert.equal(backOff.ended(10), 500);
  });

  test('never overlap, and all requests during a run share one further run', async () => {
    let [running, runs] = [0, 0];
    const release: (() => void)[] = [];
    const serial = new Serial(async () => {
      assert.equal(++running, 1);
      runs += 1;
      await new Promise<void>((resolve) => release.push(resolve));
      running -= 1;
    });
    const all = [serial.run(), serial.run(), serial.run(), serial.run()];
    release[0]?.();
    await all[0];
    await new Promise(setImmediate);
    release[1]?.();
    await Promise.all(all);
    assert.equal(runs, 2);
  });

  test('a failed run does not block the next one', async () => {
    let runs = 0;
    const serial = new Serial(() => (++runs === 1 ? Promise.reject(new Error('no')) : Promise.resolve()));
    const [first, second] = [serial.run(), serial.run()];
    await assert.rejects(first, /no/);
    await second;
    assert.equal(runs, 2);
  });
});
