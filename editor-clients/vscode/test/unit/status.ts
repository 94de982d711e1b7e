import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Banner } from '../../src/model/banner';
import { circle, failed, status } from '../../src/model/status';
import type { Thread } from '../../src/model/threads';
import { TOOLTIP_COMMANDS } from '../../src/model/tooltip';
import { NOW, PROPOSAL, details, headsUp, summary } from './samples';

function thread(...more: Parameters<typeof details>): Thread {
  return { summary: summary(), details: details(...more) };
}

function banner(more: Parameters<typeof headsUp>[0] = {}): Banner {
  return { threadId: 't', headsUp: headsUp(more) };
}

/** The links of a tooltip, as label and command. */
function links(tooltip: string): string[][] {
  return [...tooltip.matchAll(/\[([^\]]+)\]\(command:([\w.]+)[^)]*\)/g)].map(([, ...parts]) => parts);
}

describe('the status bar', () => {
  test('says whose item it is, and shows the percentage left, the tier and the last valid boundary', () => {
    const boundaries = [{ boundary: 'plan_update', spentBy: 's0' }, { boundary: 'commit' }] as const;
    const shown = status(thread({ boundaries: [...boundaries] }), 1, NOW);
    assert.equal(shown?.text, '◔ rawr 62% left · ready · commit ✓');
    assert.equal(shown.label, 'rawr, parser: 62% left, ready, commit ✓');
    assert.equal(shown.alarm, undefined);
  });

  test('is hidden without a running thread', () => {
    assert.equal(status(undefined, 0, NOW), undefined);
    // A request about it opens it.
    const ended = summary({ owner: undefined, open: true, running: false, tier: 'emergency' });
    assert.equal(status({ summary: ended }, 0, NOW), undefined);
  });

  test('says that it is the demo', () => {
    assert.equal(status(thread(), 1, NOW, true)?.text, '◔ rawr demo 62% left · ready');
  });

  test('counts the other running threads', () => {
    const shown = status(thread(), 3, NOW);
    assert.equal(shown?.text, '◔ rawr 62% left · ready +2');
    assert.match(shown.label, /Other running threads: 2/);
  });

  test('shows that the usage is unknown', () => {
    const unknown = { summary: summary({ percentRemaining: undefined, tier: undefined }) };
    assert.equal(status(unknown, 1, NOW)?.text, '○ rawr usage unknown');
  });

  test('shows a guard, such as a snooze', () => {
    const guards = [{ guardId: 'g1', until: { kind: 'turns', turns: 1 }, setAtMs: NOW } as const];
    assert.equal(
      status(thread({ guards }), 1, NOW)?.text,
      '◔ rawr 62% left · ready · no compaction for 1 turn',
    );
  });

  test('is highlighted while a sequence runs, and a click opens its choices', () => {
    const asking = banner({ deadlineAtMs: NOW + 600_000, deadlineLabel: 'Gone in' });
    const shown = status({ summary: summary(), banner: asking }, 1, NOW);
    assert.equal(shown?.alarm, 'warning');
    assert.equal(shown.text, '$(warning) rawr 62% left · ready · 2 of 4: The step');
    assert.equal(shown.answers, true);
    assert.match(shown.tooltip, /What happens next/);
    assert.match(shown.tooltip, /Gone in 10 min/);
    const late = status({ summary: summary(), banner: banner({ choices: [] }) }, 1, NOW);
    assert.equal(late?.answers, false);
  });

  test('is read out with the title of the banner, once', () => {
    const label = (more: Parameters<typeof headsUp>[0]): string | undefined =>
      status({ summary: summary(), banner: banner(more) }, 1, NOW)?.label;
    assert.equal(label({}), 'rawr, parser: 62% left, ready, 2 of 4: The step, The title');
    const progress = { step: 1, of: 4, label: 'The title' };
    assert.equal(label({ progress }), 'rawr, parser: 62% left, ready, 1 of 4: The title');
  });

  test('its tooltip does not change each second', () => {
    const asking = {
      summary: summary(),
      banner: banner({ deadlineAtMs: NOW + 600_000, deadlineLabel: 'In' }),
    };
    assert.deepEqual(status(asking, 1, NOW), status(asking, 1, NOW + 5_000));
  });

  test('its tooltip has links to the choices, which have the sequence', () => {
    const shown = status({ summary: summary(), banner: banner() }, 1, NOW);
    assert.deepEqual(
      links(shown?.tooltip ?? '').map(([label]) => label),
      ['Later', 'Skip', 'Edit', 'Explain', 'Threads'],
    );
    const [, argument = ''] = /rawr\.answerWith\?(\S+)/.exec(shown?.tooltip ?? '') ?? [];
    const [answer] = JSON.parse(decodeURIComponent(argument)) as unknown[];
    assert.deepEqual(answer, { threadId: 't', sequenceId: 's1', choice: 'snooze' });
  });

  test('untrusted texts of its tooltip have no links or markup', () => {
    const reason = 'done\n\n[Free](command:rawr.compactNow) <b>x</b> https://x.example';
    const shown = status({ summary: summary(), banner: banner({ reason, choices: [] }) }, 1, NOW);
    for (const [, command = ''] of links(shown?.tooltip ?? '')) assert.ok(TOOLTIP_COMMANDS.includes(command));
    assert.doesNotMatch(shown?.tooltip ?? '', /\[Free\]\(|<b>|https:\/\//);
  });

  test('shows a proposed compaction without asking for an answer', () => {
    const proposed = summary({ phase: 'proposed', proposal: PROPOSAL });
    const boundaries = [{ boundary: 'commit' }] as const;
    const shown = status({ ...thread({ boundaries: [...boundaries] }), summary: proposed }, 1, NOW);
    assert.equal(shown?.text, '◔ rawr 62% left · ready · Compaction proposed');
    assert.equal(shown.alarm, undefined);
    assert.equal(shown.answers, false);
    assert.match(shown.tooltip, /your next message or 4 minutes of silence decides/);
  });

  test('an emergency is shown as an error', () => {
    const emergency = { summary: summary({ tier: 'emergency', percentRemaining: 9 }) };
    assert.equal(status(emergency, 1, NOW)?.alarm, 'error');
  });

  test('says why there is no sidecar', () => {
    const shown = failed('rawr is not installed.');
    assert.equal(shown.text, '$(warning) rawr');
    assert.equal(shown.label, 'rawr: rawr is not installed.');
  });

  test('its circle fills with the usage', () => {
    assert.equal([100, 80, 50, 20, 5].map(circle).join(''), '○◔◑◕●');
  });
});
