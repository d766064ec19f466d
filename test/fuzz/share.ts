/** A share of the work: a number of mutants of one language, compared and counted. */
import { compare, type Disagreement, READERS, type Reader } from './compare.js';
import type { Input, Language } from './languages.js';
import { mutants } from './mutants.js';
import { shrink } from './shrink.js';

/** The most findings per reader. More of them rarely add information. */
const MAX_FOUND = 5;

export interface Share {
  readonly language: Language;
  readonly count: number;
  readonly seed: number;
  /** The interval at which texts are also read with Ohm, which takes longer than all others together. */
  readonly ohmEvery: number;
}

export interface Tally {
  readonly language: Language;
  accepted: number;
  refused: number;
  /** For each reader, the number of texts that it has read, and of those on which it disagrees with stock Peggy. */
  readonly readers: Readonly<Record<Reader, { texts: number; disagreements: number }>>;
  readonly found: Finding[];
}

/** A text on which a reader disagrees, shrunk. */
export interface Finding {
  readonly reader: Reader;
  readonly input: Input;
  readonly disagreement: Disagreement;
}

/** An empty tally. */
export function emptyTally(language: Language): Tally {
  const none = (): { texts: number; disagreements: number } => ({ texts: 0, disagreements: 0 });
  const readers = { fast: none(), recognize: none(), envelope: none(), hand: none(), ohm: none(), apg: none() };
  return { language, accepted: 0, refused: 0, readers, found: [] };
}

/** Compares the texts of a share. */
export function compareShare(share: Share): Tally {
  // Most texts are rejected, by each parser several times. Without stack traces this is much faster.
  const { stackTraceLimit } = Error;
  Error.stackTraceLimit = 0;
  try {
    return compareAll(share);
  } finally {
    Error.stackTraceLimit = stackTraceLimit;
  }
}

function compareAll({ language, count, seed, ohmEvery }: Share): Tally {
  const tally = emptyTally(language);
  const texts = mutants(language, seed);
  for (let index = 0; index < count; index++) {
    const input = { ...language, text: texts.next().value };
    const withOhm = index % ohmEvery === 0;
    const { accepted, readers, disagreements } = compare(input, { withOhm });
    tally[accepted ? 'accepted' : 'refused']++;
    for (const reader of readers) {
      const figures = tally.readers[reader];
      figures.texts++;
      if (!disagreements.some((one) => one.reader === reader)) continue;
      figures.disagreements++;
      if (hasRoom(tally.found, reader)) addFinding(tally.found, smaller(reader, input));
    }
  }
  return tally;
}

/** The same disagreement on a smaller text. */
function smaller(reader: Reader, input: Input): Finding {
  const disagreementOn = (text: string): Disagreement | undefined =>
    compare({ ...input, text }, { withOhm: reader === 'ohm' }).disagreements.find((one) => one.reader === reader);
  const text = shrink(input.text, (candidate) => disagreementOn(candidate) !== undefined);
  return { reader, input: { ...input, text }, disagreement: disagreementOn(text)! };
}

/** Adds the figures of another share of the same language. */
export function addTally(sum: Tally, { accepted, refused, readers, found }: Tally): void {
  sum.accepted += accepted;
  sum.refused += refused;
  for (const reader of READERS) {
    sum.readers[reader].texts += readers[reader].texts;
    sum.readers[reader].disagreements += readers[reader].disagreements;
  }
  for (const finding of found) if (hasRoom(sum.found, finding.reader)) addFinding(sum.found, finding);
}

function hasRoom(found: readonly Finding[], reader: Reader): boolean {
  return found.filter((known) => known.reader === reader).length < MAX_FOUND;
}

function addFinding(found: Finding[], finding: Finding): void {
  const isKnown = found.some(({ reader, input }) => reader === finding.reader && input.text === finding.input.text);
  if (!isKnown) found.push(finding);
}
