/**
 * How an instruction is put together: which words stand in one phrase, and behind which preposition. The bags of words that
 * are compared elsewhere do not tell "the sales report of the marketing manager" from "the marketing report of the sales manager".
 */

import type { Frame, Standing, Structure } from './analysis.js';
import { TIME_KINDS } from './instruction/slots.js';
import { isAdjective, isFormat, isLight } from './lexicon/kinds.js';
import { marksOf } from './marks.js';
import type { Part } from './parts.js';

/** Prepositions with which the words behind can as well stand in front: "the records of employees", "employee records". */
const COMPOUNDING: ReadonlySet<string> = new Set(['of', 'for', 'in', 'at', 'named']);

/** Others by what they are compared as: '' says no more than that what stands behind belongs to something. */
const SAME: ReadonlyMap<string, string> = new Map([
  ['regarding', 'about'],
  ['concerning', 'about'],
  ...['with', 'on', 'to', 'by', 'as', 'using', 'against', 'into'].map((text): [string, string] => [text, '']),
]);

/** Words that are no prepositions, though they relate what stands around them. */
const PLAIN: ReadonlySet<string> = new Set([
  'have',
  ...['only', 'first', 'last', 'next', 'other', 'same', 'some', 'most', 'very', 'again', 'still', 'exactly', 'if-any'],
  ...['can', 'will', 'would', 'may', 'should', 'must', 'to-be', 'not', 'no'],
]);

/** Relations to one value, which hold for nothing behind it. */
const BOUNDS: ReadonlySet<string> = new Set([
  ...['over', 'under', 'at-least', 'at-most', 'before', 'after', 'since', 'until', 'beyond', 'as-of', 'within'],
]);

/** For each telling word where it stands; `null` for one that comes twice. */
function standingsOf(parts: readonly Part[], actions: readonly string[]): Frame['standings'] {
  const standings = new Map<string, Standing | null>();
  let preposition = '';
  let phrase = 0;
  /** What "of" and the like part; what stands behind belongs in front. */
  let pieces: string[][] = [[]];
  const end = (next: string): void => {
    [...pieces]
      .reverse()
      .flat()
      .forEach((word, place) => {
        standings.set(word, standings.has(word) ? null : { phrase, place, preposition });
      });
    phrase++;
    pieces = [[]];
    preposition = next;
  };
  for (const part of parts) {
    const piece = pieces.at(-1)!;
    if (part.kind === 'break') end(part.mark === 'and' || part.mark === 'comma' ? preposition : '');
    else if (part.kind === 'slot' && TIME_KINDS.has(part.slot.kind)) end('');
    else if (part.kind === 'slot') {
      piece.push(`{${part.slot.kind}}`);
      if (BOUNDS.has(preposition)) end('');
    } else if (part.kind === 'stop' && part.relative) end('');
    else if (part.kind === 'weak' || part.kind === 'relation') {
      const text = part.kind === 'weak' ? part.text : part.relation;
      if (COMPOUNDING.has(text)) pieces.push([]);
      else if (!PLAIN.has(text)) end(SAME.get(text) ?? text);
    } else if (part.kind === 'word' && !isLight(part.key) && !isFormat(part.key)) {
      const isVerb = part.action !== undefined && (part.past || piece.length === 0) && isAsked(part.action, actions);
      if (!isVerb) piece.push(part.key);
      // "Because of the delay, refund ...": the order begins anew.
      else if (!part.past && piece.length === 0) preposition = '';
    }
  }
  end('');
  return standings;
}

function isAsked(action: string, actions: readonly string[]): boolean {
  return actions.includes(action) || actions.includes(`not:${action}`);
}

/** @param written the instruction as it stands, where `text` is a sentence made of it */
export function frameOf(
  text: string,
  parts: readonly Part[],
  structure: Pick<Structure, 'actions' | 'slots' | 'asks'>,
  isGrave: boolean,
  written: string,
): Frame {
  const { actions, slots } = structure;
  const isOrdered = text !== written || hasTwoOfAKind(slots);
  return {
    marks: marksOf(text, parts, structure, isGrave, written),
    sequence: isOrdered ? sequenceOf(parts, actions) : null,
    bearers: slots.flatMap(({ noun }) => noun ?? []).sort(),
    standings: standingsOf(parts, actions),
  };
}

/** What is said of one could be meant of the other. Those of a list are in any order. */
function hasTwoOfAKind(slots: Structure['slots']): boolean {
  const kinds = slots.filter(({ listed }) => !listed).map(({ slot }) => slot.kind);
  return new Set(kinds).size < kinds.length;
}

/** All telling words and values in their order. */
function sequenceOf(parts: readonly Part[], actions: readonly string[]): string {
  const said = parts.flatMap((part) => {
    if (part.kind === 'slot') return `{${part.slot.kind}}`;
    if (part.kind !== 'word' || isLight(part.key) || isFormat(part.key)) return [];
    return part.action !== undefined && isAsked(part.action, actions) ? [] : part.key;
  });
  return said.join(' ');
}

/** What differs, as a phrase for people; `null` where both are put together in one way. */
export function otherFrame(one: Frame, other: Frame): string | null {
  const mark = one.marks.findIndex(([, value], at) => value !== other.marks[at]![1]);
  if (mark >= 0) return one.marks[mark]![0];
  if (one.sequence !== other.sequence) return 'what their values belong to';
  const [bearers, others] = [one.bearers, other.bearers];
  if (bearers.length === others.length && bearers.join() !== others.join()) return 'what their values are names of';
  return otherPlace(one.standings, other.standings);
}

/** A word that stands behind another preposition, or two of one phrase in another order. */
function otherPlace(ones: Frame['standings'], others: Frame['standings']): string | null {
  const both: { readonly word: string; readonly here: Standing; readonly there: Standing }[] = [];
  for (const [word, here] of ones) {
    const there = others.get(word);
    if (here === null || there === undefined || there === null) continue;
    if (!word.startsWith('{') && here.preposition !== there.preposition) return `what "${word}" stands behind`;
    // "medium risk", "risk: medium"; "terms net 30", "net 30 terms"
    if (word.startsWith('{') || isAdjective(word)) continue;
    const before = both.find(
      (earlier) =>
        earlier.here.phrase === here.phrase &&
        earlier.there.phrase === there.phrase &&
        earlier.here.place < here.place !== earlier.there.place < there.place,
    );
    if (before !== undefined) return `the order of "${before.word}" and "${word}"`;
    both.push({ word, here, there });
  }
  return null;
}
