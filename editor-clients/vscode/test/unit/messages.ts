import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Banner } from '../../src/model/banner';
import { buttons, expiry, notice, watched } from '../../src/model/notice';
import { answerHead, answerPicks, threadPicks } from '../../src/model/picks';
import { failureActions, stateKey } from '../../src/model/serverFailure';
import { confirmation } from '../../src/model/name';
import { type Thread, Threads } from '../../src/model/threads';
import * as words from '../../src/model/words';
import type { DecisionFate } from '../../src/protocol';
import { lateRefusal } from '../../src/sidecar';
import { NOW, changed, headsUp, summary } from './samples';

function banner(more: Parameters<typeof headsUp>[0] = {}): Banner {
  return { threadId: 't', headsUp: headsUp(more) };
}

const APPROVAL = headsUp({
  stage: 'awaiting_approval',
  choices: [
    { choice: 'approve', label: 'Yes' },
    { choice: 'snooze', label: 'Later' },
    { choice: 'cancel', label: 'Skip' },
    { choice: 'edit_packet', label: 'Edit' },
  ],
});

describe('the message of a banner', () => {
  const THREAD: Thread = { summary: summary() };

  test('is one plain sentence each for what and why', () => {
    assert.equal(
      notice(banner(), THREAD),
      'rawr, parser: The title. A phase ended here (commit) (62% left, ready).',
    );
  });

  test('its first button never stops the compaction, and none cancels it', () => {
    const choices = (of: Banner): string[] => buttons(of).map(({ choice }) => choice);
    assert.deepEqual(choices(banner()), ['edit_packet', 'snooze']);
    assert.deepEqual(choices({ threadId: 't', headsUp: APPROVAL }), ['approve', 'edit_packet', 'snooze']);
    const recommended = banner({ stage: 'recommended', progress: undefined });
    assert.equal(choices(recommended).at(-1), 'mute');
    assert.ok(!choices(banner()).includes('mute'));
    assert.deepEqual(buttons(banner())[0], { title: 'Edit', choice: 'edit_packet' });
  });

  test('untrusted texts do not become links', () => {
    const text = notice(banner({ reason: 'done\n[Free](command:rawr.compactNow)' }), undefined);
    assert.doesNotMatch(text, /\]\(/);
    assert.doesNotMatch(text, /\n/);
  });

  test('an answer that comes too late has a friendly sentence', () => {
    const refused = (code: number): unknown => lateRefusal(Object.assign(new Error('x'), { code }));
    assert.deepEqual([-31006, -31009, -31001].map(refused), ['no_sequence', 'not_now', undefined]);
    assert.match(words.tooLate({ choice: 'approve', sequenceId: 's1' }, 'not_now'), /came too late/);
    assert.match(words.tooLate({ choice: 'cancel' }, 'no_sequence'), /no compaction to answer/);
    assert.match(words.tooLate({ choice: 'compact_now' }, 'not_now'), /already under way/);
  });

  test('a compaction is only called under way if one is', () => {
    const late = words.tooLate({ choice: 'compact_now', sequenceId: 's1' }, 'no_sequence');
    assert.match(late, /came too late/);
  });

  test('a confirmation names its thread, and without a link', () => {
    assert.equal(confirmation(THREAD, 'Approved.'), 'parser · Approved.');
    const thread: Thread = { summary: summary({ title: '[x](command:y)' }) };
    assert.doesNotMatch(confirmation(thread, 'Approved.'), /\]\(/);
    assert.equal(confirmation(undefined, 'Approved.'), 'Approved.');
  });
});

describe('an expired approval', () => {
  const before = { banner: { threadId: 't', headsUp: APPROVAL }, fate: undefined };
  const fate: DecisionFate = {
    decisionId: 'd1',
    status: 'dropped',
    text: 'dropped: no answer came in time',
    atMs: NOW,
  };

  test('is told', () => {
    const thread: Thread = { summary: summary({ lastFate: fate }) };
    assert.equal(expiry(before, thread), 'rawr, parser: the compaction was dropped: no answer came in time.');
  });

  test('is not told after an answer, or while the sequence runs', () => {
    assert.equal(
      expiry(before, { summary: summary({ lastFate: { ...fate, status: 'called_off', by: 'nvim' } }) }),
      undefined,
    );
    assert.equal(expiry(before, { summary: summary({ lastFate: fate }), sequenceId: 's1' }), undefined);
    assert.equal(expiry(before, { summary: summary() }), undefined);
    assert.equal(
      expiry({ ...before, banner: banner() }, { summary: summary({ lastFate: fate }) }),
      undefined,
    );
    assert.equal(expiry(before, undefined), undefined);
  });

  test('is not told with the fate of an earlier decision', () => {
    const earlier = { ...before, fate };
    assert.equal(expiry(earlier, { summary: summary({ lastFate: { ...fate } }) }), undefined);
    for (const change of [{ decisionId: 'd2' }, { status: 'called_off' }] as const) {
      const thread: Thread = { summary: summary({ lastFate: { ...fate, ...change } }) };
      assert.match(expiry(earlier, thread) ?? '', /no answer came in time/);
    }
  });

  test('is also told if a list brings its fate before the banner goes', () => {
    const threads = new Threads();
    threads.listed([summary()]);
    threads.changed(changed({ headsUp: APPROVAL }), NOW);
    const first = watched(threads, new Map());
    threads.listed([summary({ lastFate: fate })]);
    const second = watched(threads, first);
    assert.deepEqual(second.get('t'), { banner: { threadId: 't', headsUp: APPROVAL }, fate: undefined });
    threads.changed(changed({ headsUp: { ...APPROVAL, sequenceId: 's2' }, lastFate: fate }), NOW);
    assert.equal(watched(threads, second).get('t')?.fate, fate);
  });
});

describe('the quick picks', () => {
  test('an answer has an icon, its key and its effect', () => {
    const [snooze] = answerPicks(banner());
    assert.deepEqual(snooze, {
      label: '$(bell-slash) Later',
      description: 'Ctrl+Alt+R S',
      detail: 'No compaction for 1 turn, except in an emergency',
      value: 'snooze',
    });
  });

  test('the choices name the thread, the reason and the deadline', () => {
    const asking = banner({ deadlineAtMs: NOW + 65_000, deadlineLabel: 'Gone in' });
    assert.deepEqual(answerHead(asking, { summary: summary() }, NOW), {
      title: 'parser: The title',
      text: 'a phase ended here (commit) (62% left, ready) · Gone in 1:05',
    });
  });

  test('threads of the same folder differ', () => {
    const [one] = threadPicks([{ summary: summary() }]);
    assert.deepEqual(
      [one?.label, one?.description, one?.detail],
      ['$(pulse) parser', '62% left · ready', '/home/me/parser · t'],
    );
  });
});

describe('a failed sidecar', () => {
  test('has one message with what to do about its cause', () => {
    const actions = (cause: Parameters<typeof failureActions>[0]): string[] =>
      failureActions(cause).map(({ title }) => title);
    assert.deepEqual(actions('missing'), ['How to Install', 'Open Setting', 'Do Not Show Again']);
    assert.deepEqual(actions('incompatible'), ['How to Update', 'Open Setting', 'Do Not Show Again']);
    assert.deepEqual(actions('crashed'), ['Try Again', 'Show Log', 'Do Not Show Again']);
  });

  test('has a key for the view', () => {
    assert.equal(stateKey({ kind: 'failed', cause: 'missing', why: 'x' }), 'missing');
    assert.equal(stateKey({ kind: 'starting' }), 'starting');
  });
});
