import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { title } from '../../src/model/banner';
import { packetLine } from '../../src/model/packet';
import { Threads, active, answerable, canRespond, hasPacket } from '../../src/model/threads';
import { NOW, PROPOSAL, changed, decision, details, headsUp, summary } from './samples';

function listed(...all: Parameters<typeof summary>): Threads {
  const threads = new Threads();
  threads.listed(all.map((one) => summary(one)));
  return threads;
}

function asking(): Threads {
  const threads = listed({});
  threads.changed(changed({ headsUp: headsUp() }), NOW);
  return threads;
}

describe('threads', () => {
  test('a new list removes missing threads and keeps the details of the others', () => {
    const threads = new Threads();
    threads.listed([summary(), summary({ threadId: 'u' })]);
    threads.changed(changed({ headsUp: headsUp() }), NOW);
    threads.listed([summary({ percentRemaining: 60 })]);
    assert.deepEqual(
      threads.all.map((thread) => thread.summary.threadId),
      ['t'],
    );
    assert.equal(threads.banners.length, 1);
    assert.equal(threads.get('t')?.summary.percentRemaining, 60);
  });

  test('a change of an unknown thread is reported as unknown', () => {
    const threads = listed({});
    assert.equal(threads.changed(changed(), NOW), true);
    assert.equal(threads.changed(changed({ threadId: 'new' }), NOW), false);
  });

  test('a thread gets its title with its first message', () => {
    const threads = listed({});
    threads.changed(changed({ title: 'Fix the lexer' }), NOW);
    assert.equal(threads.get('t')?.summary.title, 'Fix the lexer');
  });

  test('a proposal comes and goes with the phase', () => {
    const threads = listed({});
    threads.changed(changed({ phase: 'proposed', proposal: PROPOSAL }), NOW);
    assert.equal(threads.get('t')?.summary.proposal, PROPOSAL);
    threads.changed(changed(), NOW);
    assert.equal(threads.get('t')?.summary.proposal, undefined);
  });

  test('a banner and a proposal can be answered', () => {
    const threads = listed({});
    const thread = threads.all[0];
    assert.ok(thread);
    assert.equal(canRespond(thread), false);
    threads.changed(changed({ phase: 'proposed', proposal: PROPOSAL }), NOW);
    assert.equal(canRespond(thread), true);
    assert.ok(asking().all.every(canRespond));
  });

  test('there may be a packet once a sequence ran', () => {
    const decisions = [decision({ sequenceId: undefined })];
    assert.equal(hasPacket({ summary: summary(), details: details({}, decisions) }), false);
    assert.equal(hasPacket({ summary: summary(), details: details() }), true);
    assert.equal(hasPacket({ summary: summary(), sequenceId: 's1' }), true);
  });

  test('a banner that arrives before its thread is kept', () => {
    const threads = new Threads();
    threads.changed(changed({ headsUp: headsUp({ deadlineAtMs: NOW + 5 }) }), NOW);
    assert.equal(threads.banners.length, 0);
    threads.listed([summary()]);
    assert.equal(threads.banners[0]?.headsUp.deadlineAtMs, NOW + 5);
  });

  test('a banner is only changed by the sidecar, not by phases and answers', () => {
    const threads = asking();
    threads.responded({ threadId: 't', sequenceId: 's1', choice: 'snooze' });
    threads.changed(changed({ phase: 'idle', sequenceId: undefined, headsUp: headsUp() }), NOW);
    assert.deepEqual(threads.banners.map(title), ['The title']);
    const late = headsUp({ title: 'Another', choices: [] });
    threads.changed(changed({ headsUp: late }), NOW);
    assert.deepEqual(
      threads.banners.map((banner) => banner.headsUp),
      [late],
    );
    threads.changed(changed(), NOW);
    assert.deepEqual(threads.banners, []);
  });

  test('loading the details adds a missed banner and removes an outdated one', () => {
    const threads = listed({ phase: 'awaiting_approval' });
    const asked = headsUp({
      choices: [
        { choice: 'approve', label: 'Yes' },
        { choice: 'edit_packet', label: 'Edit' },
      ],
      deadlineAtMs: NOW + 90_000,
      deadlineLabel: 'Gone in',
    });
    threads.looked(details({ sequenceId: 's1', headsUp: asked }));
    assert.deepEqual(
      threads.banners.map((banner) => banner.headsUp),
      [asked],
    );
    assert.match(packetLine('editable', threads.get('t'), NOW), /with this packet · Gone in 1:30/);
    threads.looked(details({ sequenceId: 's1' }));
    assert.deepEqual(threads.banners, []);
  });

  test('a repeated decision replaces itself', () => {
    const threads = listed({});
    threads.looked(details());
    const compaction = { status: 'completed', tokensAfter: 538, packetAdded: [] } as const;
    threads.decided('t', decision({ compaction: { ...compaction, packetAdded: [] } }));
    assert.deepEqual(
      threads.get('t')?.details?.decisions.map((one) => one.compaction?.tokensAfter),
      [538],
    );
  });

  test('the active thread is the one that asks, then an emergency, then the chosen one, then the worst tier', () => {
    const threads = new Threads();
    const all = (['early', 'asap', 'ready', 'emergency'] as const).map((tier, at) =>
      summary({ threadId: tier, tier, updatedAtMs: NOW - at }),
    );
    const shown = (chosen?: string): string | undefined => active(threads, chosen)?.summary.threadId;
    threads.listed([...all.slice(0, 3), summary({ threadId: 'rests', tier: 'emergency', running: false })]);
    assert.equal(shown(), 'asap');
    assert.equal(shown('ready'), 'ready');
    assert.equal(shown('rests'), 'asap');
    threads.listed(all);
    assert.equal(shown('ready'), 'emergency');
    threads.changed(changed({ threadId: 'early', tier: 'early', headsUp: headsUp() }), NOW);
    assert.equal(shown('ready'), 'early');
  });

  test('the threads that can be answered are the most urgent first, as they were when asked', () => {
    const threads = new Threads();
    threads.listed(['a', 'b', 'c'].map((threadId, at) => summary({ threadId, updatedAtMs: NOW - at })));
    assert.deepEqual(answerable(threads, undefined), []);
    threads.changed(changed({ threadId: 'a', phase: 'proposed', proposal: PROPOSAL }), NOW);
    threads.changed(changed({ threadId: 'c', headsUp: headsUp() }), NOW - 9);
    const before = answerable(threads, undefined);
    threads.changed(changed({ threadId: 'c', sequenceId: 's2', headsUp: headsUp() }), NOW);
    assert.deepEqual(
      before.map(({ summary: { threadId }, sequenceId }) => [threadId, sequenceId]),
      [
        ['c', 's1'],
        ['a', 's1'],
      ],
    );
  });

  test('of threads that are equally urgent, the active one is the latest', () => {
    const threads = new Threads();
    threads.listed([
      summary({ threadId: 'a', updatedAtMs: NOW - 1 }),
      summary({ threadId: 'b', updatedAtMs: NOW }),
    ]);
    assert.equal(active(threads, undefined)?.summary.threadId, 'b');
  });
});
