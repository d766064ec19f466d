/**
 * Tests for membership in a set of symbols: comparisons for simple sets, otherwise one bit in a table that eight sets
 * share. The ends of runs are found by tables over pairs of symbols: half as many steps, each a single load.
 */
import { rangesOf, type SymbolSet } from './alphabet.js';

/** The maximum number of ranges that comparisons test as fast as a table. */
const MAX_COMPARED_RANGES = 2;
const BITS = 8;
/** The bit that distinguishes lower case from upper case. */
const CASE_BIT = 0x20;

/** Tables for runs take 64 KB each. Beyond this number, runs are scanned symbol by symbol. */
const MAX_RUNS = 12;

export class Tables {
  readonly #ends: { readonly set: SymbolSet; readonly shown: string }[] = [];
  readonly #own: string[] = [];
  readonly #sets: { readonly set: SymbolSet; shown: string }[] = [];

  readonly #patterns: string[] = [];

  /** The name of a regular expression. */
  patternFor(pattern: RegExp): string {
    const known = this.#patterns.indexOf(String(pattern));
    return `points${known < 0 ? this.#patterns.push(String(pattern)) - 1 : known}$`;
  }

  isIn(set: SymbolSet, symbol: string, shown = ''): string {
    const ranges = rangesOf(set);
    if (ranges.length === 0) return 'false';
    const letter = letterOfBothCases(ranges, symbol);
    if (letter !== null) return `(${symbol} | ${CASE_BIT}) === ${letter}`;
    if (ranges.length > MAX_COMPARED_RANGES || (ranges.length > 1 && !isVariable(symbol))) {
      return `(${this.#test(set, symbol, shown)}) !== 0`;
    }
    if (ranges.some(([from, to]) => from !== to) && !isVariable(symbol)) {
      if (ranges[0]![0] !== 0) return `(${this.#test(set, symbol, shown)}) !== 0`;
    }
    const tests = ranges.map(([from, to]) => {
      if (from === to) return `${symbol} === ${from}`;
      return from === 0 ? `${symbol} <= ${to}` : `${symbol} >= ${from} && ${symbol} <= ${to}`;
    });
    if (tests.length === 1) return tests[0]!;
    return tests.map((test) => (test.includes('&&') ? `(${test})` : test)).join(' || ');
  }

  isNotIn(set: SymbolSet, symbol: string, shown = ''): string {
    const ranges = rangesOf(set);
    const [first] = ranges;
    if (first === undefined) return 'true';
    if (ranges.length === 1 && first[0] === first[1]) return `${symbol} !== ${first[0]}`;
    if (ranges.length === 1 && first[0] === 0) return `${symbol} > ${first[1]}`;
    const test = this.isIn(set, symbol, shown);
    if (letterOfBothCases(ranges, symbol) !== null) return test.replace(' === ', ' !== ');
    return test.endsWith(' !== 0') ? test.replace(/ !== 0$/, ' === 0') : `!(${test})`;
  }

  /** The name of the table that finds the end of a run of a set's symbols; null if there are too many of them. */
  endsOf(set: SymbolSet, shown: string): string | null {
    let index = this.#ends.findIndex((one) => one.set === set);
    if (index < 0) {
      if (this.#ends.length === MAX_RUNS) return null;
      index = this.#ends.push({ set, shown }) - 1;
    }
    return `ends${index}$`;
  }

  /** The name of a table with one bit for each of some sets, from the lowest one. */
  ofSets(sets: readonly SymbolSet[]): string {
    const code = sets.map((set) => `[${rangesOf(set).flat().join(', ')}]`).join(', ');
    const index = this.#own.includes(code) ? this.#own.indexOf(code) : this.#own.push(code) - 1;
    return `sets${index}$`;
  }

  declarations(): string {
    const lines = this.#own.map((code, index) => `const sets${index}$ = peg$tableOf([${code}]);`);
    for (let first = 0; first < this.#sets.length; first += BITS) {
      const sets = this.#sets.slice(first, first + BITS);
      lines.push(`const table${first / BITS}$ = peg$tableOf([`);
      for (const { set, shown } of sets) {
        const ranges = rangesOf(set).map(([from, to]) => `${from}, ${to}`);
        lines.push(`  [${ranges.join(', ')}],${shown === '' ? '' : ` // ${shown}`}`);
      }
      lines.push(']);');
    }
    this.#ends.forEach(({ set, shown }, index) => {
      const ranges = rangesOf(set).map(([from, to]) => `${from}, ${to}`);
      lines.push(`const ends${index}$ = peg$endsOf([${ranges.join(', ')}]);${shown === '' ? '' : ` // ${shown}`}`);
    });
    this.#patterns.forEach((pattern, index) => void lines.push(`const points${index}$ = ${pattern};`));
    return lines.join('\n');
  }

  #test(set: SymbolSet, symbol: string, shown: string): string {
    let index = this.#sets.findIndex((one) => one.set === set);
    if (index < 0) index = this.#sets.push({ set, shown }) - 1;
    const entry = this.#sets[index]!;
    if (entry.shown === '') entry.shown = shown;
    return `table${Math.floor(index / BITS)}$[${symbol}] & ${1 << (index % BITS)}`;
  }
}

/** The lower-case code of a set that consists of one letter in both cases; null for others. */
function letterOfBothCases(ranges: readonly (readonly [from: number, to: number])[], symbol: string): number | null {
  const [upper, lower] = ranges;
  if (ranges.length !== 2 || isVariable(symbol) || upper![0] !== upper![1] || lower![0] !== lower![1]) return null;
  return (upper![0] | CASE_BIT) === lower![0] ? lower![0] : null;
}

function isVariable(expression: string): boolean {
  return /^[\w$]+$/.test(expression);
}
