import { BOUNDARY, type Cell, type Cells } from './matcher.js';

/** The values of the cells at one place: 0 for no, `MAY` for perhaps, `MAY | MUST` for yes. */
export interface Column {
  readonly id: number;
  readonly values: Uint8Array;
}

const MAY = 1;
const MUST = 2;

export function isSure({ values }: Column, cell: number): boolean {
  return (values[cell]! & MUST) !== 0;
}

export function isOut({ values }: Column, cell: number): boolean {
  return (values[cell]! & MAY) === 0;
}

/** One place of a text, in two forms: as any other place, and as the boundary. */
export interface Place {
  readonly id: number;
  readonly plain: Column;
  readonly boundary: Column;
}

export interface Machine {
  /** Symbols that no cell distinguishes have the same kind: numbers from 0. */
  readonly kinds: number;
  readonly kindOf: (symbol: number) => number;
  /** The place after the last symbol. */
  readonly end: Place;
  /** The place before a symbol of some kind, given the place after it. */
  readonly step: (behind: Column, kind: number) => Place;
  readonly effort: () => number;
}

export function machineOf(compiled: Cells, symbolCount: number): Machine {
  const { cells, roots } = compiled;
  const { kindOf, examples } = kindsOf(cells, symbolCount);
  const evaluate = evaluatorOf(compiled, kindOf, examples.length);
  // The only values that matter later: those that the next step reads, and the answers.
  const kept = [...new Set([...cells.flatMap((cell) => (cell.kind === 'symbol' ? [cell.next] : [])), ...roots])];
  const knowsBoundary = cells.some((cell) => dependsOnBoundary(cell)) || roots.includes(BOUNDARY);
  const decoder = new TextDecoder('latin1');
  const scratch = new Uint8Array(kept.length);
  const columns = new Map<string, Column>();
  const places = new Map<string, Place>();
  const steps: Place[][] = [];
  // Building a machine takes effort, too, before it runs.
  let effort = symbolCount + cells.length;

  const column = (behind: Column | null, kind: number, atBoundary: boolean): Column => {
    effort += cells.length;
    const values = evaluate(behind?.values ?? null, kind, atBoundary);
    for (let i = 0; i < kept.length; i++) scratch[i] = values[kept[i]!]!;
    const key = decoder.decode(scratch);
    let known = columns.get(key);
    if (known === undefined) {
      known = { id: columns.size, values };
      columns.set(key, known);
    }
    return known;
  };

  const place = (behind: Column | null, kind: number): Place => {
    const plain = column(behind, kind, false);
    const boundary = knowsBoundary ? column(behind, kind, true) : plain;
    const key = `${plain.id} ${boundary.id}`;
    let known = places.get(key);
    if (known === undefined) {
      known = { id: places.size, plain, boundary };
      places.set(key, known);
    }
    return known;
  };

  return {
    kinds: examples.length,
    kindOf: (symbol) => kindOf[symbol]!,
    end: place(null, 0),
    step: (behind, kind) => {
      steps[behind.id] ??= [];
      const known = steps[behind.id]!;
      known[kind] ??= place(behind, kind);
      return known[kind];
    },
    effort: () => effort,
  };
}

function dependsOnBoundary(cell: Cell): boolean {
  switch (cell.kind) {
    case 'choice':
      return cell.first === BOUNDARY || cell.second === BOUNDARY;
    case 'constant':
    case 'boundary':
      return false;
    default:
      return cell.next === BOUNDARY;
  }
}

const CODES: Readonly<Record<Cell['kind'], number>> = {
  constant: 0,
  boundary: 1,
  symbol: 2,
  choice: 3,
  lookahead: 4,
  unknown: 5,
};

type Evaluator = (behind: Uint8Array | null, kind: number, atBoundary: boolean) => Uint8Array;

/** The cells as rows of numbers: this code runs for each column and each cell. */
function evaluatorOf({ cells, order }: Cells, kindOf: Uint16Array, kinds: number): Evaluator {
  const code = Uint8Array.from(order, (at) => CODES[cells[at]!.kind]);
  const operands = Int32Array.from(order.flatMap((at) => operandsOf(cells[at]!)));
  const members = order.map((at) => {
    const cell = cells[at]!;
    const own = new Uint8Array(kinds);
    if (cell.kind === 'symbol' || cell.kind === 'unknown') for (const symbol of cell.symbols) own[kindOf[symbol]!] = 1;
    return own;
  });
  return (behind, kind, atBoundary) => {
    const values = new Uint8Array(cells.length);
    for (let row = 0; row < order.length; row++) {
      const a = operands[3 * row]!;
      const b = operands[3 * row + 1]!;
      const c = operands[3 * row + 2]!;
      let value = 0;
      switch (code[row]) {
        case 0:
          value = a;
          break;
        case 1:
          value = atBoundary ? MAY | MUST : 0;
          break;
        case 2:
          value = behind === null || members[row]![kind] === 0 ? 0 : behind[a]!;
          break;
        case 3:
          value = values[a]! | (opposite(values[b]!) & values[c]!);
          break;
        case 4:
          value = (c === 1 ? opposite(values[a]!) : values[a]!) & values[b]!;
          break;
        case 5:
          value = (behind === null ? 0 : members[row]![kind]!) | (a < 0 ? 0 : values[a]! & MAY);
      }
      values[order[row]!] = value;
    }
    return values;
  };
}

function operandsOf(cell: Cell): readonly [number, number, number] {
  switch (cell.kind) {
    case 'constant':
      return [cell.value ? MAY | MUST : 0, 0, 0];
    case 'boundary':
      return [0, 0, 0];
    case 'symbol':
      return [cell.next, 0, 0];
    case 'choice':
      return [cell.first, cell.guard, cell.second];
    case 'lookahead':
      return [cell.item, cell.next, cell.negative ? 1 : 0];
    case 'unknown':
      return [cell.next ?? -1, 0, 0];
  }
}

/** The answer of the negation: a part that must match cannot fail, any other part may. */
function opposite(value: number): number {
  return ((value & MUST) === 0 ? MAY : 0) | ((value & MAY) === 0 ? MUST : 0);
}

function kindsOf(cells: readonly Cell[], symbolCount: number): { kindOf: Uint16Array; examples: number[] } {
  const keys = Array.from({ length: symbolCount }, () => '');
  const sets = new Set(
    cells.flatMap((cell) => (cell.kind === 'symbol' || cell.kind === 'unknown' ? [cell.symbols] : [])),
  );
  let number = 0;
  for (const symbols of sets) {
    for (const symbol of symbols) keys[symbol] += `${number} `;
    number++;
  }
  const numbers = new Map<string, number>();
  const examples: number[] = [];
  const kindOf = new Uint16Array(symbolCount);
  keys.forEach((key, symbol) => {
    let kind = numbers.get(key);
    if (kind === undefined) {
      kind = examples.push(symbol) - 1;
      numbers.set(key, kind);
    }
    kindOf[symbol] = kind;
  });
  return { kindOf, examples };
}
