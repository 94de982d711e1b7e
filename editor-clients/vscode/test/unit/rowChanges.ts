import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { reconcile } from '../../src/model/rowChanges';
import { Threads } from '../../src/model/threads';
import type { Row } from '../../src/model/row';
import { rows } from '../../src/model/tree';
import { NOW, details, summary } from './samples';

const row = (id: string, more: Partial<Row> = {}): Row => ({
  id,
  label: id,
  context: 'x',
  about: { threadId: 't' },
  ...more,
});

const ids = (all: readonly Row[] | undefined): string[] | undefined => all?.map(({ id }) => id);

describe('the difference of two trees', () => {
  test('equal rows are not drawn again, and keep their objects', () => {
    const threads = new Threads();
    threads.listed([summary()]);
    threads.looked(details());
    const before = rows(threads, NOW);
    const { rows: after, changed } = reconcile(before, rows(threads, NOW));
    assert.deepEqual(changed, []);
    assert.equal(after[0], before[0]);
  });

  test('only the changed row is drawn again, with its new text', () => {
    const before = [row('a', { children: [row('a/1'), row('a/2')] }), row('b')];
    const after = [row('a', { children: [row('a/1'), row('a/2', { label: 'new' })] }), row('b')];
    const { rows: merged, changed } = reconcile(before, after);
    assert.deepEqual(ids(changed), ['a/2']);
    assert.equal(changed?.[0], before[0]?.children?.[1]);
    assert.equal(merged[0]?.children?.[1]?.label, 'new');
  });

  test('a row whose children came, went or moved is drawn again', () => {
    const before = [row('a', { children: [row('a/1')] })];
    const { rows: merged, changed } = reconcile(before, [row('a', { children: [row('a/0'), row('a/1')] })]);
    assert.deepEqual(ids(changed), ['a']);
    assert.deepEqual(ids(merged[0]?.children), ['a/0', 'a/1']);
    assert.deepEqual(ids(reconcile(merged, [row('a')]).rows[0]?.children ?? []), []);
  });

  test('another order of the threads draws all', () => {
    assert.equal(reconcile([row('a'), row('b')], [row('b'), row('a')]).changed, undefined);
    assert.equal(reconcile([], [row('a')]).changed, undefined);
  });
});
