import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Banner } from '../../src/model/banner';
import { decisionPage, isOutdated } from '../../src/model/decisionPage';
import { packetLine, packetState } from '../../src/model/packet';
import { type Thread, Threads } from '../../src/model/threads';
import { timeline } from '../../src/model/timeline';
import type { Row } from '../../src/model/row';
import { rows, spoken } from '../../src/model/tree';
import * as words from '../../src/model/words';
import type { Decision } from '../../src/protocol';
import { NOW, PROPOSAL, TRIGGER, changed, decision, details, headsUp, summary } from './samples';

function banner(more: Parameters<typeof headsUp>[0] = {}): Banner {
  return { threadId: 't', headsUp: headsUp(more) };
}

describe('the tree', () => {
  const find = (all: readonly Row[], id: string): Row => {
    for (const row of all) {
      if (row.id === id) return row;
      if (id.startsWith(row.id) && row.children) return find(row.children, id);
    }
    const inner = all.flatMap((row) => row.children ?? []);
    assert.ok(inner.length > 0, `no row ${id}`);
    return find(inner, id);
  };

  function shown(found: Parameters<typeof details>[0], decisions?: Decision[]): Row[] {
    const threads = new Threads();
    threads.listed([summary()]);
    threads.looked(details({ thread: summary(), ...found }, decisions));
    return rows(threads, NOW);
  }

  // rule: client.name-of-thread
  test('a thread is shown by its folder, with its state', () => {
    const [row] = shown({});
    assert.deepEqual(
      [row?.label, row?.description, row?.context],
      ['parser', '62% left · ready · Idle', 'thread.running'],
    );
  });

  test('gates have an icon, their evidence, and their outcome', () => {
    const gate = (name: string): Row => find(shown({}), `t/decision/d1/${name}`);
    const { description, children = [] } = find(shown({}), 't/decision/d1');
    assert.equal(description, '62% left (ready) at commit · 2 min ago');
    assert.deepEqual(
      children.map(({ label }) => label),
      ['Guards', 'Passed gates: 1', 'Gates not reached: 1'],
    );
    assert.deepEqual(
      [gate('feature').icon, gate('guard').icon, gate('mode').icon],
      ['pass', 'error', 'circle-outline'],
    );
    assert.equal(gate('guard').description, 'failed: g1 until the next commit');
    assert.equal(gate('mode').description, 'not reached');
  });

  test('a compaction has its token counts', () => {
    const compaction = {
      status: 'completed',
      tokensBefore: 5494,
      tokensAfter: 538,
      packetAdded: ['open: x'],
    } as const;
    const row = find(
      shown({}, [decision({ compaction: { ...compaction, packetAdded: ['open: x'] } })]),
      't/compaction/d1',
    );
    assert.equal(row.label, '5,494 → 538 tokens');
    assert.match(row.tooltip ?? '', /Added by rawr: open: x/);
  });

  test('a compaction whose state was kept can be restored', () => {
    const threads = new Threads();
    threads.listed([summary()]);
    const compaction = { status: 'completed' as const, packetAdded: [] };
    const capsule = { capsuleId: 's1', atMs: NOW, hasHistory: true, threadId: 't', trigger: TRIGGER };
    threads.looked({ ...details({}, [decision({ compaction })]), capsules: [capsule] });
    const row = find(rows(threads, NOW), 't/compaction/d1');
    assert.deepEqual([row.context, row.about.capsuleId], ['compaction.kept', 's1']);
  });

  test('threads that run come first', () => {
    const threads = new Threads();
    const ended = summary({ threadId: 'ended', running: false, updatedAtMs: NOW });
    threads.listed([ended, summary()]);
    assert.deepEqual(
      rows(threads, NOW).map(({ about }) => about.threadId),
      ['t', 'ended'],
    );
  });

  test('is read out without separators', () => {
    const [row] = shown({});
    assert.equal(row && spoken(row), 'parser, 62% left, ready, Idle');
  });

  test('a compaction by the host is shown as well', () => {
    const row = find(shown({ lastCompaction: { atMs: NOW, origin: 'host' } }), `t/compaction/${NOW}`);
    assert.equal(row.description, 'by the host · just now');
  });

  test('plan, guards and pins are shown, and can be removed', () => {
    const all = shown({
      plan: [
        { step: 'write', status: 'completed' },
        { step: 'test', status: 'in_progress' },
      ],
      guards: [{ guardId: 'g1', until: { kind: 'next_commit' }, setAtMs: NOW, setBy: 'nvim' }],
      directives: [{ directiveId: 'p1', text: 'never force-push', pinned: true, givenAtMs: NOW }],
    });
    assert.equal(find(all, 't/plan').label, 'Plan, 1 of 2 done');
    assert.equal(find(all, 't/plan/1').description, 'in progress');
    const guard = find(all, 't/guard/g1');
    assert.deepEqual(
      [guard.label, guard.description, guard.about.guardId],
      ['No compaction until the next commit', 'nvim', 'g1'],
    );
    assert.equal(find(all, 't/pin/p1').about.directiveId, 'p1');
  });

  test('a proposed compaction can be answered in the menu of its thread', () => {
    const threads = new Threads();
    threads.listed([summary({ phase: 'proposed', proposal: PROPOSAL })]);
    assert.equal(rows(threads, NOW)[0]?.context, 'thread.running.proposed');
  });

  // rule: client.name-of-thread
  test('a title names a thread, with its folder beside it', () => {
    const threads = new Threads();
    threads.listed([{ ...summary(), title: 'Fix the lexer' }]);
    const [row] = rows(threads, NOW);
    assert.deepEqual([row?.label, row?.description], ['Fix the lexer', 'parser · 62% left · ready · Idle']);
  });

  test('only urgent tiers are colored, with colors that are readable in every theme', () => {
    const color = (tier: 'ready' | 'asap' | 'emergency'): string | undefined => {
      const threads = new Threads();
      threads.listed([summary({ tier })]);
      return rows(threads, NOW)[0]?.color;
    };
    assert.deepEqual(
      [color('ready'), color('asap'), color('emergency')],
      [undefined, 'list.warningForeground', 'list.errorForeground'],
    );
  });

  test('a banner has a row with the time left', () => {
    const threads = new Threads();
    threads.listed([summary()]);
    threads.changed(
      changed({ headsUp: headsUp({ deadlineAtMs: NOW + 90_000, deadlineLabel: 'Gone in' }) }),
      NOW,
    );
    const row = find(rows(threads, NOW), 't/banner');
    assert.equal(row.description, '2 of 4: The step · commit · Gone in 2 min');
    assert.equal(row.context, 'banner.snooze.cancel.edit_packet');
  });
});

describe('the packet', () => {
  const asking = (more: Parameters<typeof headsUp>[0] = {}): Thread => ({
    summary: summary({ phase: 'awaiting_packet' }),
    banner: banner({ deadlineAtMs: NOW + 90_000, deadlineLabel: 'Gone in', ...more }),
  });

  test('can be delivered while the choice is available, and its line shows the deadline', () => {
    assert.equal(packetState(asking(), 's1', false), 'editable');
    assert.equal(
      packetLine('editable', asking(), NOW),
      'Hand over: the agent gets this packet after the compaction · Gone in 1:30',
    );
    assert.equal(packetState(asking({ choices: [] }), 's1', false), 'past');
    assert.equal(packetState(asking(), 's0', false), 'past');
    assert.equal(packetState(undefined, 's1', false), 'past');
  });

  test('is delivered once the answer is given', () => {
    assert.equal(packetState({ ...asking(), handedOver: 's1' }, 's1', true), 'handed');
  });

  test('a text that came too late is not read-only', () => {
    assert.equal(packetState(undefined, 's1', true), 'late');
    assert.match(packetLine('late', undefined, NOW), /^Too late/);
  });
});

describe('the decision view', () => {
  const page = (of: Decision, decisions = [of]): string =>
    decisionPage({ threadId: 't', name: 'parser', decision: of, decisions, nowMs: NOW, language: 'en' });

  test('a page pinned to a decision is drawn again only after that decision changed', () => {
    assert.equal(isOutdated('d1', decision(), decision()), false);
    assert.equal(isOutdated('d1', undefined, decision()), true);
    const compaction = { status: 'completed', packetAdded: [] } as const;
    assert.equal(
      isOutdated('d1', decision(), decision({ compaction: { ...compaction, packetAdded: [] } })),
      true,
    );
    assert.equal(isOutdated(undefined, decision(), decision()), true);
  });

  test('names a proposal', () => {
    const proposed = decision({ outcome: 'defer', confirm: 'message', sequenceId: undefined });
    assert.match(page(proposed), /<h1>Why a compaction was proposed<\/h1>/);
    assert.equal(words.decided(proposed).split(' · ')[0], 'Compaction proposed');
  });

  test('explains a decision with every gate and its condition', () => {
    const html = page(decision({ outcome: 'nothing', sequenceId: undefined }));
    for (const text of [
      'Why there was no compaction',
      'g1 until the next commit',
      'the guard g1 is cleared',
      'not reached',
    ]) {
      assert.ok(html.includes(text), text);
    }
  });

  test('asks its question in the past tense', () => {
    const asked = decision({ outcome: 'ask', compaction: { status: 'completed', packetAdded: [] } });
    assert.match(page(asked), /<h1>Why your approval was requested<\/h1>/);
    assert.equal(words.outcome(asked), 'approval requested');
    assert.equal(words.outcome({ outcome: 'ask' }), 'waiting for your approval');
  });

  test('shows failed gates first, and folds those that passed', () => {
    const html = page(decision());
    const at = (text: string): number => html.indexOf(text);
    assert.ok(at('g1 until the next commit') < at('<summary>Passed gates: 1</summary>'));
    assert.ok(at('<summary>Passed gates: 1</summary>') < at('features.rawr_auto_compaction is on'));
    assert.equal(html.match(/<details>/g)?.length, 2);
  });

  test('links to the packet of its compaction', () => {
    const compaction = { status: 'completed' as const, packetAdded: [] };
    const link = /<a href="command:rawr\.openPacket\?([^"]+)">/.exec(page(decision({ compaction })));
    const subject = JSON.parse(decodeURIComponent(link?.[1] ?? '')) as unknown;
    assert.deepEqual(subject, [{ threadId: 't', sequenceId: 's1' }]);
    assert.doesNotMatch(page(decision()), /openPacket/);
  });

  test('has no scripts or external resources, and escapes untrusted texts', () => {
    const html = page(decision({ reason: '<script>alert(1)</script><img src=x>' }));
    assert.match(html, /default-src 'none'; style-src 'unsafe-inline'/);
    assert.doesNotMatch(html, /<script|<img|https?:/);
  });

  test('other decisions are links, and the shown one is marked', () => {
    const html = page(decision(), [decision(), decision({ decisionId: 'd2' })]);
    assert.match(html, /<a href="command:rawr\.explain\?[^"]*d2/);
    assert.match(html, /<li aria-current="true">/);
  });

  test('the plot marks boundaries and compactions by shape and tooltip', () => {
    const compaction = {
      status: 'completed',
      tokensBefore: 5494,
      tokensAfter: 538,
      packetAdded: [],
    } as const;
    const plot = timeline(
      [
        decision({ trigger: undefined }),
        decision(),
        decision({ compaction: { ...compaction, packetAdded: [] } }),
      ],
      'd1',
      NOW,
    );
    for (const shape of ['<circle class="plain"', '<path class="boundary"', '<rect class="compaction"'])
      assert.ok(plot.includes(shape), shape);
    assert.match(plot, /role="img" aria-label="Percent of the context left at the last 3 decisions"/);
    assert.match(plot, /<title>[^<]*5,494 → 538 tokens<\/title>/);
    assert.equal(timeline([decision()], 'd1', NOW), '');
  });

  test('the plot does not cut off the ring of a mark at the border', () => {
    const full = decision({ decisionId: 'd2', percentRemaining: 100 });
    const plot = timeline([decision(), full], 'd2', NOW);
    const [x = 0, y = 0, radius = 0] = (/class="ring" cx="(.+?)" cy="(.+?)" r="(.+?)"/.exec(plot) ?? [])
      .slice(1)
      .map(Number);
    const [width = 0] = (/viewBox="0 0 (\d+) /.exec(plot) ?? []).slice(1).map(Number);
    assert.ok(x + radius + 1 < width && y - radius - 1 > 0, `${x} ${y} ${radius}`);
  });
});

describe('words', () => {
  test('times are shown as ages', () => {
    const told = [0, 61_000, 3_600_000 * 2, 3_600_000 * 24 * 3].map((ms) => words.ago(NOW - ms, NOW));
    assert.deepEqual(told, ['just now', '1 min ago', '2 h ago', '3 days ago']);
    assert.equal(words.remaining(NOW + 61_000, NOW), '1:01');
    assert.equal(words.remaining(NOW - 1, NOW), '0:00');
  });

  test('token counts are shown as far as they are known', () => {
    const told = [
      words.landed(1234567, 12),
      words.landed(5, undefined),
      words.landed(undefined, 7),
      words.landed(undefined, undefined),
    ];
    assert.deepEqual(told, ['1,234,567 → 12 tokens', 'from 5 tokens', '7 tokens now', '']);
  });
});
