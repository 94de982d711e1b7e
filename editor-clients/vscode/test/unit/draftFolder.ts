import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, test } from 'node:test';
import type { Draft } from '../../src/model/packetTexts';
import { DraftFolder } from '../../src/server/draftFolder';

const MINE: Draft = { threadId: '../t', sequenceId: 's1', text: 'mine', original: "the agent's" };

describe('the folder of drafts', () => {
  let dir: string;
  let folder: string;
  beforeEach(() => {
    dir = mkdtempSync(path.join(tmpdir(), 'rawr-drafts-'));
    folder = path.join(dir, 'not', 'there', 'yet');
  });
  afterEach(() => rmSync(dir, { recursive: true }));

  test('stores a draft at once, readable only by its owner', () => {
    assert.deepEqual(new DraftFolder(folder).read(), []);
    new DraftFolder(folder).write(MINE);
    assert.deepEqual(new DraftFolder(folder).read(), [MINE]);
    const [file = ''] = readdirSync(folder);
    assert.equal(statSync(path.join(folder, file)).mode & 0o777, 0o600);
    assert.deepEqual(readdirSync(dir), ['not']);
  });

  test('keeps only the latest draft of a packet, and none after its removal', () => {
    const drafts = new DraftFolder(folder);
    drafts.write(MINE);
    drafts.write({ ...MINE, text: 'better' });
    drafts.write({ ...MINE, sequenceId: 's2' });
    assert.deepEqual(
      drafts
        .read()
        .map(({ text }) => text)
        .sort(),
      ['better', 'mine'],
    );
    drafts.remove(MINE);
    drafts.remove({ threadId: 't', sequenceId: 'never' });
    assert.deepEqual(drafts.read(), [{ ...MINE, sequenceId: 's2' }]);
  });

  test('deletes old files, and keeps the others', () => {
    const drafts = new DraftFolder(folder);
    drafts.removeOlderThan(0);
    drafts.write(MINE);
    const [file = ''] = readdirSync(folder);
    writeFileSync(path.join(folder, 'c.json.17'), 'unfinished');
    for (const name of [file, 'c.json.17']) utimesSync(path.join(folder, name), 1_000, 1_000);
    drafts.write({ ...MINE, sequenceId: 's2' });
    drafts.removeOlderThan(999_000);
    assert.equal(readdirSync(folder).length, 3);
    drafts.removeOlderThan(1_001_000);
    assert.deepEqual(drafts.read(), [{ ...MINE, sequenceId: 's2' }]);
    assert.equal(readdirSync(folder).length, 1);
  });

  test('is read oldest first, and invalid files are ignored', () => {
    const drafts = new DraftFolder(folder);
    drafts.write(MINE);
    const [file = ''] = readdirSync(folder);
    drafts.write({ ...MINE, sequenceId: 's0' });
    utimesSync(path.join(folder, file), 4_000_000_000, 4_000_000_000);
    writeFileSync(path.join(folder, 'a.json'), '{"threadId":"t","sequenceId":"s","text":1}');
    writeFileSync(path.join(folder, 'b.json'), '{"threadId":"t"');
    writeFileSync(path.join(folder, 'c.json.17'), JSON.stringify(MINE));
    assert.deepEqual(
      drafts.read().map(({ sequenceId }) => sequenceId),
      ['s0', 's1'],
    );
  });
});
