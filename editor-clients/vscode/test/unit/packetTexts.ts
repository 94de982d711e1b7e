import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { type Draft, type DraftStore, type PacketName, PacketTexts } from '../../src/model/packetTexts';

/** A storage that survives a reload. */
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
  test('survives a reload if it was edited', () => {
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

  test('a draft is replaced by a newer packet, also after a reload', () => {
    const stored = new Stored();
    const texts = new PacketTexts(stored);
    texts.built(S1, 'built');
    texts.edited(S1, 'mine');
    const later = new PacketTexts(stored);
    assert.equal(later.written(S1, "the agent's"), true);
    assert.equal(later.get(S1)?.text, "the agent's");
    assert.equal(later.draft(S1)?.text, 'mine');
  });

  test('a draft stays if it was made from the current packet', () => {
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

  test('a restored draft is newer than the packet that replaced it', () => {
    const texts = new PacketTexts(new Stored());
    texts.built(S1, 'built');
    texts.edited(S1, 'mine');
    texts.written(S1, "the agent's");
    texts.edited(S1, 'mine');
    assert.equal(texts.written(S1, "the agent's"), false);
    assert.equal(texts.get(S1)?.text, 'mine');
  });

  test('is not stored after its delivery, and stays visible', () => {
    const stored = new Stored();
    const texts = new PacketTexts(stored);
    texts.edited(S1, 'mine');
    texts.drop(S1);
    assert.equal(texts.get(S1)?.text, 'mine');
    assert.equal(new PacketTexts(stored).get(S1), undefined);
  });

  test('drafts are limited in number and size, and the latest is kept', () => {
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

  test('a discarded text is neither stored nor shown', () => {
    const stored = new Stored();
    const texts = new PacketTexts(stored);
    texts.edited(S1, 'mine');
    texts.forget(S1);
    assert.equal(texts.get(S1), undefined);
    assert.equal(new PacketTexts(stored).get(S1), undefined);
  });
});
