import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { choices, progress, title } from '../../src/model/banner';
import { packetLine } from '../../src/model/packet';
import { Threads, active } from '../../src/model/threads';
import { NOW, changed, decision, details, headsUp, summary } from './samples';

function listed(...all: Parameters<typeof summary>): Threads {
  const threads = new Threads();
  threads.listed(all.map((one) => summary(one)));
  return threads;
}

function asking(): Threads {
  const threads = listed({});
  threads.headsUp(headsUp());
  return threads;
}

describe('threads', () => {
  test('what is not in the list is gone, and what stays keeps what is known of it', () => {
    const threads = new Threads();
    threads.listed([summary(), summary({ threadId: 'u' })]);
    threads.headsUp(headsUp());
    threads.listed([summary({ percentRemaining: 60 })]);
    assert.deepEqual(
      threads.all.map((thread) => thread.summary.threadId),
      ['t'],
    );
    assert.equal(threads.banners.length, 1);
    assert.equal(threads.get('t')?.summary.percentRemaining, 60);
  });

  test('a change of an unknown thread says that the thread has to be looked for', () => {
    const threads = listed({});
    assert.equal(threads.changed(changed(), NOW), true);
    assert.equal(threads.changed(changed({ threadId: 'new' }), NOW), false);
  });

  test('a banner that comes before its thread is listed waits for it', () => {
    const threads = new Threads();
    threads.headsUp(headsUp({ deadlineAtMs: NOW + 5 }));
    threads.changed(changed({ phase: 'awaiting_approval' }), NOW);
    assert.equal(threads.banners.length, 0);
    threads.listed([summary()]);
    assert.equal(threads.banners[0]?.headsUp.deadlineAtMs, NOW + 5);
  });

  test('a banner stays through packet, compaction and handoff, and goes with its sequence', () => {
    const threads = asking();
    const steps = (['awaiting_packet', 'compacting', 'awaiting_handoff'] as const).map((phase) => {
      threads.changed(changed({ phase }), NOW);
      const [banner] = threads.banners;
      assert.ok(banner);
      return progress(banner).step;
    });
    assert.deepEqual(steps, [2, 3, 4]);
    threads.changed(changed({ phase: 'idle', sequenceId: undefined }), NOW);
    assert.deepEqual(threads.banners, []);
  });

  test('nothing can be said any more once the compaction has begun', () => {
    const threads = asking();
    threads.changed(changed({ phase: 'compacting' }), NOW);
    assert.deepEqual(threads.banners.map(choices), [[]]);
  });

  test('an answer from another client takes the banner down, and a look before its owner has heard does not bring it back', () => {
    const threads = asking();
    threads.responded({ threadId: 't', sequenceId: 's1', choice: 'snooze' });
    assert.deepEqual(threads.banners, []);
    threads.looked(details({ sequenceId: 's1', headsUp: headsUp() }));
    assert.deepEqual(threads.banners, []);
  });

  test('an approval leaves the banner up, without the question', () => {
    const threads = listed({});
    threads.headsUp(headsUp({ stage: 'awaiting_approval', choices: ['approve', 'snooze'] }));
    threads.responded({ threadId: 't', sequenceId: 's1', choice: 'approve' });
    assert.deepEqual(threads.banners.map(choices), [['snooze']]);
    threads.changed(changed(), NOW);
    assert.deepEqual(threads.banners.map(title), ['compaction ahead']);
  });

  test('a banner of a sequence that began before this window listened is the one that others were told of', () => {
    const threads = listed({ phase: 'awaiting_approval' });
    const asked = headsUp({
      stage: 'awaiting_approval',
      choices: ['approve', 'snooze', 'edit_packet'],
      deadlineAtMs: NOW + 90_000,
    });
    const found = { thread: summary({ phase: 'awaiting_approval' }), sequenceId: 's1', headsUp: asked };
    threads.looked(details(found));
    assert.deepEqual(
      threads.banners.map(({ headsUp }) => headsUp),
      [asked],
    );
    assert.match(packetLine(threads.get('t'), 's1', NOW), /without an answer in 1:30/);
    threads.changed(changed({ phase: 'awaiting_approval' }), NOW);
    assert.deepEqual(
      threads.banners.map(({ headsUp }) => headsUp),
      [asked],
    );
  });

  test('nobody is asked about a thread that nobody runs', () => {
    const threads = asking();
    threads.listed([summary({ owner: undefined })]);
    assert.deepEqual(threads.banners, []);
    threads.listed([summary()]);
    assert.equal(threads.banners.length, 1);
  });

  test('a recommendation goes when the thread moves on', () => {
    const threads = listed({});
    threads.headsUp(headsUp({ stage: 'recommended', choices: ['compact_now'] }));
    threads.changed(changed({ phase: 'idle', sequenceId: undefined }), NOW);
    assert.equal(threads.banners.length, 1);
    threads.changed(changed({ phase: 'awaiting_packet' }), NOW);
    assert.deepEqual(threads.banners, []);
  });

  test('a decision that is told again takes its own place', () => {
    const threads = listed({});
    threads.looked(details());
    const compaction = { status: 'completed', tokensAfter: 538, packetAdded: [] } as const;
    threads.decided('t', decision({ compaction: { ...compaction, packetAdded: [] } }));
    assert.deepEqual(
      threads.get('t')?.details?.decisions.map((one) => one.compaction?.tokensAfter),
      [538],
    );
  });

  test('the active thread is the one that asks, then the one that was chosen, then the latest that runs', () => {
    const threads = new Threads();
    const all = ['a', 'b', 'c', 'rests'].map((threadId, at) => summary({ threadId, updatedAtMs: NOW - at }));
    threads.listed(
      all.map((one) => (one.threadId === 'rests' ? { ...one, owner: undefined, updatedAtMs: NOW + 1 } : one)),
    );
    assert.equal(active(threads, undefined)?.summary.threadId, 'a');
    assert.equal(active(threads, 'b')?.summary.threadId, 'b');
    assert.equal(active(threads, 'rests')?.summary.threadId, 'a');
    threads.headsUp(headsUp({ threadId: 'c' }));
    assert.equal(active(threads, 'b')?.summary.threadId, 'c');
  });
});
