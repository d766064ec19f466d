/** Memory: the size of a tree, and the text that a value cut from it retains. Requires `node --expose-gc`, and a separate process. */
import { parseFrame } from '../../src/accp/index.js';
import { mixedFrames } from '../../src/bench/corpus/accp.js';
import type { FactSection } from '../../src/bench/result.js';
import { significant } from '../../src/bench/table.js';
import { flat } from '../../src/bench/workload.js';
import { parseByHand } from '../candidates/hand-accp.js';

const COPIES = 50;
/** Enough copies to make the noise of the heap size negligible for each. */
const BIG_COPIES = 2000;
const WARM_UP = 200;

export function memory(): FactSection[] {
  const samples = mixedFrames();
  const frames = samples.map(({ text }) => text);
  const average = frames.reduce((sum, { length }) => sum + length, 0) / frames.length;
  const rows = [
    ['pegwire parseFrame', treeBytes(frames, (text) => parseFrame(text))],
    ['pegwire parseFrame with spans', treeBytes(frames, (text) => parseFrame(text, { spans: true }))],
    ['hand-written', treeBytes(frames, parseByHand)],
    [
      'JSON.parse',
      treeBytes(
        samples.map(({ json }) => json),
        JSON.parse,
      ),
    ],
  ] as const;
  return [
    {
      ...{ kind: 'facts', id: 'memory', title: 'Memory of one tree' },
      columns: ['', 'bytes per frame', 'per character'],
      rows: rows.map(([name, bytes]) => [name, Math.round(bytes), significant(bytes / average)]),
      note: `Frames of ${Math.round(average)} B on average. A tree includes the text if its strings are slices of it.`,
    },
    {
      ...{ kind: 'facts', id: 'retained', title: 'Memory that one value retains of a frame of 100 KB' },
      columns: ['value of', 'bytes retained', 'of a copy'],
      rows: [8, 12, 13, 26].map((length) => [
        `${length} characters`,
        Math.round(retainedBytes(length, (value) => value)),
        Math.round(retainedBytes(length, copied)),
      ]),
      note: 'V8 stores a slice of 13 or more characters as a view of the whole text. Copy values that outlive their frame.',
    },
  ];
}

/** Bytes of heap per result, including its text. */
function treeBytes(texts: readonly string[], read: (text: string) => unknown): number {
  const kept: unknown[] = texts.map((text) => read(text));
  const before = heap();
  for (let copy = 0; copy < COPIES; copy++) for (const text of texts) kept.push(read(flat(text)));
  return (heap() - before) / (COPIES * texts.length);
}

/** Bytes of heap per value, if nothing else of its frame is in use. */
function retainedBytes(length: number, keep: (value: string) => string): number {
  const filler = 'x'.repeat(100_000);
  const oneValue = (copy: number): string => {
    const text = flat(`@a>req:x{k:${String(copy).padStart(length, 'v')}|filler:${filler}}`);
    const { value } = parseFrame(text).payload[0]!;
    return value.kind === 'string' ? keep(value.value) : '';
  };
  const kept: string[] = [];
  // The first calls allocate memory permanently.
  for (let copy = 0; copy < WARM_UP; copy++) kept.push(oneValue(copy));
  const before = heap();
  for (let copy = 0; copy < BIG_COPIES; copy++) kept.push(oneValue(copy));
  return (heap() - before) / BIG_COPIES;
}

function copied(text: string): string {
  return Buffer.from(text, 'latin1').toString('latin1');
}

function heap(): number {
  if (globalThis.gc === undefined) throw new Error('run with node --expose-gc');
  globalThis.gc();
  globalThis.gc();
  return process.memoryUsage().heapUsed;
}
