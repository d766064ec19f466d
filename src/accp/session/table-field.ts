/**
 * The metadata field `tbl`, by which the agent of a frame changes its tables for compact frames, and counts the frames that use them.
 *
 * With `new`, an agent begins tables with the entries of the common registry, with `reg.HASH` with those of another one; with `as.NAME`, it
 * joins the agents that use the tables of another one; `off` ends them. A count may follow (`new.12`), or be alone.
 */
import { numberIn } from '../compact/spelling.js';

export type TableField =
  /** `hash` is the beginning of the hash of a registry; `undefined` for the common one. */
  | { readonly kind: 'begin'; readonly hash: string | undefined; readonly count: number | undefined }
  | { readonly kind: 'join'; readonly first: string; readonly count: number | undefined }
  | { readonly kind: 'count'; readonly count: number }
  | { readonly kind: 'off'; readonly count: undefined }
  | { readonly kind: 'invalid'; readonly text: string; readonly count: undefined };

export const OFF = 'off';

/** Counts are modulo this number. */
export const COUNTS = 1000;

const BEGIN = /^(?:new|reg\.([0-9a-f]{6,64}))(?:\.(0|[1-9][0-9]{0,2}))?$/;
const JOIN = /^as\.([A-Za-z0-9_-]+)(?:\.(0|[1-9][0-9]{0,2}))?$/;

export function readTableField(text: string): TableField {
  if (text === OFF) return { kind: 'off', count: undefined };
  const alone = numberIn(text);
  if (alone !== undefined) return { kind: 'count', count: alone };
  const begin = BEGIN.exec(text);
  if (begin !== null) return { kind: 'begin', hash: begin[1], count: numberIn(begin[2] ?? '') };
  const join = JOIN.exec(text);
  if (join !== null) return { kind: 'join', first: join[1]!, count: numberIn(join[2] ?? '') };
  return { kind: 'invalid', text, count: undefined };
}

/** Prints all fields but a mere count. */
export function beginField(hash: string | undefined): string {
  return hash === undefined ? 'new' : `reg.${hash}`;
}

export function joinField(first: string): string {
  return `as.${first}`;
}

/** Returns the field of a frame with this count: that of its change of tables, if it has one, with the count behind it. */
export function countField(change: string | undefined, count: number): string {
  return change === undefined ? String(count) : `${change}.${count}`;
}
