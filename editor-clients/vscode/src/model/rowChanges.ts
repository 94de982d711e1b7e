// The difference between two trees of rows. An editor knows a row by its object, so a row that stays keeps its object.
import { isDeepStrictEqual } from 'node:util';
import type { Row } from './row';

export interface RowChanges {
  rows: Row[];
  /** The rows to draw again, with their children; undefined if rows at the top came, went or moved. */
  changed: Row[] | undefined;
}

export function reconcile(before: readonly Row[], after: readonly Row[]): RowChanges {
  const changed: Row[] = [];
  const rows = mergeAll(before, after, changed);
  return { rows, changed: sameIds(before, after) ? changed : undefined };
}

function mergeAll(before: readonly Row[], after: readonly Row[], changed: Row[]): Row[] {
  const known = (id: string): Row | undefined => before.find((row) => row.id === id);
  return after.map((row) => merge(known(row.id), row, changed));
}

/** Updates the known object, and collects the outermost rows that differ. */
function merge(known: Row | undefined, row: Row, changed: Row[]): Row {
  if (!known) return row;
  const [before, after] = [known.children ?? [], row.children ?? []];
  const isSame = sameIds(before, after) && isDeepStrictEqual(alone(known), alone(row));
  const inner: Row[] = [];
  const children = mergeAll(before, after, inner);
  Object.assign(known, row, { children });
  changed.push(...(isSame ? inner : [known]));
  return known;
}

function alone(row: Row): Row {
  return { ...row, children: undefined };
}

function sameIds(a: readonly Row[], b: readonly Row[]): boolean {
  return isDeepStrictEqual(
    a.map(({ id }) => id),
    b.map(({ id }) => id),
  );
}
