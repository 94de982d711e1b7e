import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { isOver } from '../../src/model/packet';
import { type Draft, type DraftStore, type PacketName, PacketTexts } from '../../src/model/packetTexts';
import { details, summary } from './samples';

/** What is stored, also for the next window. */
class Stored implements DraftStore {
  private readonly drafts = new Map<string, Draft>();

  read(): Draft[] {
    return structuredClone([...this.drafts.values()]);
  }

  write(draft: Draft): void {
    this.remove(draft);
    this.drafts.set(`${draft.threadId} ${draft.sequenceId}`, structuredClone(draft));
  }

  remove({ threadId, sequenceId }: PacketName): void {
    this.drafts.delete(`${threadId} ${sequenceId}`);
  }
}

const S1 = { threadId: 't', sequenceId: 's1' };

describe('the text of a packet', () => {
  test('is there in the next window where it was edited, and only there', () => {
    const stored = new Stored();
    const texts = new PacketTexts(stored);
    texts.built(S1, 'built');
    assert.equal(new PacketTexts(stored).get(S1), undefined);
    texts.edited(S1, 'built');
    assert.equal(new PacketTexts(stored).get(S1), undefined);
    texts.edited(S1, 'mine');
    assert.equal(new PacketTexts(stored).get(S1)?.text, 'mine');
    assert.equal(new PacketTexts(stored).get({ ...S1, sequenceId: 's2' }), undefined);
  });

  test('a draft gives way to a packet that was written later, also in the next window', () => {
    const stored = new Stored();
    const texts = new PacketTexts(stored);
    texts.built(S1, 'built');
    texts.edited(S1, 'mine');
    const later = new PacketTexts(stored);
    assert.equal(later.written(S1, "the agent's"), true);
    assert.equal(later.get(S1)?.text, "the agent's");
    assert.equal(later.draft(S1)?.text, 'mine');
  });

  test('a draft stays where the packet is the one that it was made from', () => {
    const stored = new Stored();
    const texts = new PacketTexts(stored);
    assert.equal(texts.written(S1, "the agent's"), false);
    texts.edited(S1, 'mine');
    assert.equal(texts.written(S1, "the agent's"), false);
    assert.equal(texts.get(S1)?.text, 'mine');
    const later = new PacketTexts(stored);
    assert.equal(later.written(S1, "the agent's"), false);
    assert.equal(later.get(S1)?.text, 'mine');
  });

  test('a draft that was taken back up is newer than the packet that it was shown instead of', () => {
    const texts = new PacketTexts(new Stored());
    texts.built(S1, 'built');
    texts.edited(S1, 'mine');
    texts.written(S1, "the agent's");
    texts.edited(S1, 'mine');
    assert.equal(texts.written(S1, "the agent's"), false);
    assert.equal(texts.get(S1)?.text, 'mine');
  });

  test('is stored no longer once it was handed over, and stays on the screen', () => {
    const stored = new Stored();
    const texts = new PacketTexts(stored);
    texts.edited(S1, 'mine');
    texts.drop(S1);
    assert.equal(texts.get(S1)?.text, 'mine');
    assert.equal(new PacketTexts(stored).get(S1), undefined);
  });

  test('drafts are bounded in number and in size, and the latest is kept', () => {
    const texts = new PacketTexts(new Stored());
    for (let at = 0; at < 20; at++) texts.edited({ ...S1, sequenceId: `s${at}` }, `mine ${at}`);
    assert.equal(texts.drafts.length, 8);
    assert.equal(texts.drafts.at(-1)?.text, 'mine 19');
    texts.edited(S1, 'x'.repeat(256 * 1024 - 1));
    assert.deepEqual(
      texts.drafts.map(({ sequenceId }) => sequenceId),
      ['s1'],
    );
    texts.edited(S1, 'x'.repeat(256 * 1024 + 1));
    assert.equal(texts.drafts.length, 0);
  });

  test('its sequence is over where the thread was looked at and runs another or none', () => {
    assert.equal(isOver(undefined, 's1'), false);
    assert.equal(isOver({ summary: summary() }, 's1'), false);
    assert.equal(isOver({ summary: summary(), details: details(), sequenceId: 's1' }, 's1'), false);
    assert.equal(isOver({ summary: summary(), details: details(), sequenceId: 's2' }, 's1'), true);
    assert.equal(isOver({ summary: summary(), details: details() }, 's1'), true);
  });
});
