/**
 * The metadata field `tbl`, by which the agent of a frame changes its tables for compact frames, and counts the frames that use them.
 *
 * With `new`, an agent begins tables with the entries of the common registry, with `reg.HASH` with those of another one; with `as.NAME`, it
 * joins the agents that use the tables of another one; `off` ends them. A count may follow (`new.12`), or be alone.
 */
import { numberIn } from '../compact/spelling.js';

export interface TableField {
  readonly kind: 'begin' | 'join' | 'off' | 'count' | 'invalid';
  /** The beginning of the hash of the registry that tables begin with; `undefined` for the common one. */
  readonly hash: string | undefined;
  /** The agent that is joined. */
  readonly first: string | undefined;
  readonly count: number | undefined;
  readonly text: string;
}

export const OFF = 'off';

/** Counts are modulo this number. */
export const COUNTS = 1000;

const CHANGE = /^(?:(new|reg\.([0-9a-f]{6,64}))|as\.([A-Za-z0-9_-]+))(?:\.(0|[1-9][0-9]{0,2}))?$/;

export function readTableField(text: string): TableField {
  const [, begin, hash, first, digits = text] = CHANGE.exec(text) ?? [];
  const count = numberIn(digits);
  const other = count === undefined ? 'invalid' : 'count';
  const kind = begin ? 'begin' : first ? 'join' : text === OFF ? 'off' : other;
  return { kind, hash, first, count, text };
}

/** Returns the field of a frame that begins tables. @param hash that of the registry; `undefined` for the common one */
export function beginField(hash: string | undefined): string {
  return hash === undefined ? 'new' : `reg.${hash}`;
}

/** Returns the field of a frame that joins the tables of another agent. */
export function joinField(first: string): string {
  return `as.${first}`;
}

/** Returns the field of a frame with this count: that of its change of tables, if it has one, with the count behind it. */
export function countField(change: string | undefined, count: number): string {
  return change === undefined ? String(count) : `${change}.${count}`;
}
