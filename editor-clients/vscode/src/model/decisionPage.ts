// The page that explains a decision, as HTML without scripts or external resources.
import * as l10n from '@vscode/l10n';
import { isDeepStrictEqual } from 'node:util';
import type { Decision, GateOutcome, GateResult } from '../protocol';
import { escape, timeline } from './timeline';
import * as words from './words';

const POLICY = "default-src 'none'; style-src 'unsafe-inline'";

const STYLE = `
body { font: var(--vscode-font-weight) var(--vscode-font-size) var(--vscode-font-family); color: var(--vscode-foreground); padding: 0 1.5em 2em; max-width: 60em; }
h1 { font-size: 1.4em; } h2 { font-size: 1.1em; margin-top: 1.6em; }
a { color: var(--vscode-textLink-foreground); } a:focus-visible { outline: 1px solid var(--vscode-focusBorder); }
table { border-collapse: collapse; width: 100%; }
th, td { text-align: left; padding: .25em .8em .25em 0; vertical-align: top; border-bottom: 1px solid var(--vscode-widget-border, transparent); }
.fail td:first-child, .fail b { color: var(--vscode-list-errorForeground); }
.not_reached { color: var(--vscode-descriptionForeground); }
svg { width: 100%; max-width: 46em; } svg text { fill: var(--vscode-descriptionForeground); font-size: 11px; }
.grid { stroke: var(--vscode-widget-border, #8884); } polyline { fill: none; stroke: var(--vscode-foreground); stroke-width: 1.5; }
.plain, .boundary, .compaction { stroke: var(--vscode-contrastBorder, transparent); }
.plain { fill: var(--vscode-foreground); } .boundary { fill: var(--vscode-editorWarning-foreground); }
.compaction { fill: var(--vscode-descriptionForeground); } .ring { fill: none; stroke: var(--vscode-focusBorder); stroke-width: 1.5; }
summary { cursor: pointer; margin-top: .5em; } summary:focus-visible { outline: 1px solid var(--vscode-focusBorder); }
.note { color: var(--vscode-descriptionForeground); }
`;

export interface Page {
  threadId: string;
  /** The thread's display name. */
  name: string;
  decision: Decision;
  /** The decisions, latest last. The shown one may be older than all of them. */
  decisions: readonly Decision[];
  nowMs: number;
  /** The language of the texts, for screen readers. */
  language: string;
}

/**
 * Whether an open page must be drawn again, which loses its scroll position and opened details. A page without a pinned
 * decision shows the latest.
 */
export function isOutdated(
  pinnedId: string | undefined,
  drawn: Decision | undefined,
  current: Decision,
): boolean {
  return pinnedId === undefined || !isDeepStrictEqual(drawn, current);
}

export function decisionPage(page: Page): string {
  const { decision, decisions, nowMs } = page;
  const plot = timeline(decisions, decision.decisionId, nowMs);
  const legend = l10n.t('Dots are decisions, diamonds are decisions at a boundary, bars are compactions.');
  const body = [
    `<h1>${escape(words.question(decision))}</h1>`,
    `<p>${escape(decision.reason)}</p>`,
    `<p class="note">${escape(facts(page).join(' · '))}</p>`,
    plot && `<h2>${escape(l10n.t('How much was left'))}</h2>${plot}<p class="note">${escape(legend)}</p>`,
    `<h2>${escape(l10n.t('Gates'))}</h2>${gates(decision.gates)}`,
    wouldFireIf(decision),
    judgment(decision),
    compaction(page),
    fate(page),
    others(page),
  ];
  const head = `<meta charset="utf-8"><meta http-equiv="Content-Security-Policy" content="${POLICY}"><title>rawr</title><style>${STYLE}</style>`;
  return `<!doctype html><html lang="${escape(page.language)}"><head>${head}</head><body><main>${body.filter(Boolean).join('\n')}</main></body></html>`;
}

function facts({ decision, name, threadId, nowMs }: Page): string[] {
  const tier = decision.tier ? [l10n.t('tier {0}', words.tier(decision.tier))] : [];
  const where = words.entrance(decision.entrance);
  return [
    `${name} (${threadId})`,
    words.left(decision.percentRemaining),
    ...tier,
    where,
    words.ago(decision.atMs, nowMs),
  ];
}

const MARKS = { pass: '✓', fail: '✗', bypassed: '↷', not_reached: '·' };

/** The gates that decided come first; the others are folded. */
function gates(all: readonly GateResult[]): string {
  const having = (...outcomes: GateOutcome[]): GateResult[] =>
    outcomes.flatMap((wanted) => all.filter(({ outcome }) => outcome === wanted));
  const folded = (outcome: GateOutcome): string => {
    const some = having(outcome);
    if (some.length === 0) return '';
    const title = escape(words.gatesWith(outcome, some.length));
    return `<details><summary>${title}</summary>${table(some)}</details>`;
  };
  return [table(having('fail', 'bypassed')), folded('pass'), folded('not_reached')].join('');
}

function table(some: readonly GateResult[]): string {
  if (some.length === 0) return '';
  const titles = ['', l10n.t('Gate'), l10n.t('Outcome'), l10n.t('Evidence')];
  const head = titles.map((title) => `<th scope="col">${escape(title)}</th>`).join('');
  return `<table><thead><tr>${head}</tr></thead><tbody>${some.map(gateRow).join('')}</tbody></table>`;
}

function gateRow({ gate, outcome, evidence }: GateResult): string {
  const word = escape(words.gateOutcome(outcome));
  const said = outcome === 'fail' ? `<b>${word}</b>` : word;
  return `<tr class="${outcome}"><td aria-hidden="true">${MARKS[outcome]}</td><th scope="row">${escape(words.gate(gate))}</th><td>${said}</td><td>${escape(evidence)}</td></tr>`;
}

function list(title: string, items: readonly string[]): string {
  if (items.length === 0) return '';
  return `<h2>${escape(title)}</h2><ul>${items.map((item) => `<li>${escape(item)}</li>`).join('')}</ul>`;
}

function wouldFireIf(decision: Decision): string {
  return list(l10n.t('It would compact if'), decision.wouldFireIf);
}

function judgment({ judgment: asked }: Decision): string {
  if (!asked) return '';
  const answer =
    asked.shouldCompact === undefined
      ? (asked.error ?? l10n.t('no answer yet'))
      : asked.shouldCompact
        ? l10n.t('yes: {0}', asked.reason)
        : l10n.t('no: {0}', asked.reason);
  return list(l10n.t('The judge'), [answer]);
}

function compaction({ threadId, decision: { compaction: done, sequenceId } }: Page): string {
  if (!done) return '';
  const lines = [words.landed(done.tokensBefore, done.tokensAfter)];
  if (done.packetAuthor) lines.push(l10n.t('The packet is written by {0}.', words.author(done.packetAuthor)));
  lines.push(...done.packetAdded.map((fact) => l10n.t('Added by rawr: {0}', fact)));
  const packet = command('rawr.openPacket', { threadId, sequenceId }, l10n.t('Open the packet'));
  const link = sequenceId === undefined ? '' : `<p>${packet}</p>`;
  return list(l10n.t('Result'), lines.filter(Boolean)) + link;
}

function command(name: string, about: object, text: string): string {
  const argument = encodeURIComponent(JSON.stringify([about]));
  return `<a href="command:${name}?${argument}">${escape(text)}</a>`;
}

function fate({ decision: { fate: known }, nowMs }: Page): string {
  return known ? `<p>${escape(words.fate(known, nowMs))}</p>` : '';
}

/** Links to the other decisions, for keyboard navigation. */
function others({ decision, decisions, threadId, nowMs }: Page): string {
  const item = (other: Decision): string => {
    const { decisionId } = other;
    const text = `${words.decided(other)} · ${words.ago(other.atMs, nowMs)}`;
    if (decisionId === decision.decisionId) return `<li aria-current="true"><b>${escape(text)}</b></li>`;
    return `<li>${command('rawr.explain', { threadId, decisionId }, text)}</li>`;
  };
  if (decisions.length < 2) return '';
  return `<h2>${escape(l10n.t('Decisions'))}</h2><ol reversed>${[...decisions].reverse().map(item).join('')}</ol>`;
}
