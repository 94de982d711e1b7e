// A small plot: percent left over time, with the boundaries and compactions on it. One SVG text; no script.
import * as l10n from '@vscode/l10n';
import type { Decision } from '../protocol';
import * as words from './words';

const WIDTH = 640;
const HEIGHT = 148;
const LEFT = 34;
const BOTTOM = 22;
const RING = 9;
/** Room for the ring of a mark at the border. */
const PAD = RING + 3;

export function escape(text: string): string {
  return text.replace(/&/g, '&amp;').replace(/</g, '&lt;').replace(/>/g, '&gt;').replace(/"/g, '&quot;');
}

interface Point {
  x: number;
  y: number;
  decision: Decision;
}

/** The decisions with a percentage, evenly spaced, because their order matters more than long breaks. */
function points(decisions: readonly Decision[]): Point[] {
  const known = decisions.filter((decision) => decision.percentRemaining !== undefined);
  const step = (WIDTH - LEFT - 2 * PAD) / Math.max(1, known.length - 1);
  return known.map((decision, at) => ({
    x: LEFT + PAD + at * step,
    y: height(decision.percentRemaining ?? 0),
    decision,
  }));
}

function height(percent: number): number {
  return PAD + ((100 - percent) / 100) * (HEIGHT - BOTTOM - PAD);
}

function boundariesOf(decision: Decision): string {
  return decision.trigger?.kind === 'rawr' ? words.boundaries(decision.trigger.boundaries) : '';
}

/** The tooltip of a mark, also for screen readers. */
function spoken(decision: Decision, nowMs: number): string {
  const facts = [words.ago(decision.atMs, nowMs), words.decided(decision), boundariesOf(decision)];
  const { compaction } = decision;
  if (compaction) facts.push(words.landed(compaction.tokensBefore, compaction.tokensAfter));
  return facts.filter(Boolean).join(' · ');
}

/** Shapes differ, not only colors: a dot, a diamond for a boundary, a bar for a compaction. */
function mark({ x, y, decision }: Point, nowMs: number, selected: string): string {
  const title = `<title>${escape(spoken(decision, nowMs))}</title>`;
  const kind = decision.compaction ? 'compaction' : boundariesOf(decision) ? 'boundary' : 'plain';
  const [px, py] = [x.toFixed(1), y.toFixed(1)];
  const shape = {
    compaction: `<rect class="compaction" x="${(x - 3).toFixed(1)}" y="${PAD}" width="6" height="${HEIGHT - BOTTOM - PAD}"/>`,
    boundary: `<path class="boundary" d="M${px} ${(y - 6).toFixed(1)}l6 6l-6 6l-6 -6z"/>`,
    plain: `<circle class="plain" cx="${px}" cy="${py}" r="3.5"/>`,
  }[kind];
  const ring =
    decision.decisionId === selected ? `<circle class="ring" cx="${px}" cy="${py}" r="${RING}"/>` : '';
  return `<g>${title}${shape}${ring}</g>`;
}

export function timeline(decisions: readonly Decision[], selected: string, nowMs: number): string {
  const all = points(decisions);
  if (all.length < 2) return '';
  const line = all.map(({ x, y }) => `${x.toFixed(1)},${y.toFixed(1)}`).join(' ');
  const grid = [0, 50, 100].map((percent) => {
    const y = height(percent).toFixed(1);
    return `<line class="grid" x1="${LEFT}" x2="${WIDTH}" y1="${y}" y2="${y}"/><text x="0" y="${y}" dy="4">${percent}%</text>`;
  });
  const label = escape(l10n.t('Percent of the context left at the last {0} decisions', all.length));
  const marks = all.map((point) => mark(point, nowMs, selected));
  const [first, last] = [all[0], all.at(-1)];
  const times = [
    `<text x="${LEFT}" y="${HEIGHT - 4}">${escape(words.ago(first?.decision.atMs ?? nowMs, nowMs))}</text>`,
    `<text x="${WIDTH}" y="${HEIGHT - 4}" text-anchor="end">${escape(words.ago(last?.decision.atMs ?? nowMs, nowMs))}</text>`,
  ];
  return `<svg role="img" aria-label="${label}" viewBox="0 0 ${WIDTH} ${HEIGHT}">${grid.join('')}<polyline points="${line}"/>${marks.join('')}${times.join('')}</svg>`;
}
