/** Cold start: the time to load a parser, and its speed before it is optimized. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { mixedFrames } from '../../src/bench/corpus/accp.js';
import { spreadOf } from '../../src/bench/race.js';
import type { FactSection } from '../../src/bench/result.js';
import { significant } from '../../src/bench/table.js';
import { stockSource } from '../candidates/stock-peggy.js';
import { child } from './child.js';
import type { ColdFigures } from './cold-start-child.js';

const PROCESSES = 9;

export async function coldStart(): Promise<FactSection[]> {
  const folder = mkdtempSync(path.join(tmpdir(), 'pegwire-cold-'));
  try {
    const samples = mixedFrames();
    const frames = written(folder, 'frames.json', JSON.stringify(samples.map(({ text }) => text)));
    const messages = written(folder, 'messages.json', JSON.stringify(samples.map(({ json }) => json)));
    const stock = written(folder, 'stock.mjs', await stockSource('accp'));
    const file = (name: string): string => fileURLToPath(new URL(`../../${name}`, import.meta.url));
    const entrants = [
      ['JSON.parse', messages, '', ''],
      ['pegwire parseFrame', frames, file('src/accp/index.js'), 'parseFrame'],
      ['pegwire raw parser', frames, file('generated/accp.js'), 'parse'],
      ['hand-written', frames, file('bench/candidates/hand-accp.js'), 'parseByHand'],
      ['stock Peggy', frames, stock, 'parse'],
    ] as const;
    return [
      {
        ...{ kind: 'facts', id: 'cold-start', title: 'Cold start' },
        columns: ['', 'load, ms', 'pass 1, us per frame', 'pass 2', 'pass 10', 'pass 100'],
        rows: entrants.map(([name, ...args]) => row(name, args)),
        note: `Medians of ${PROCESSES} processes. A pass reads the ${samples.length} frames of the mixed corpus once.`,
      },
    ];
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function written(folder: string, name: string, content: string): string {
  const file = path.join(folder, name);
  writeFileSync(file, content);
  return file;
}

function row(name: string, args: readonly string[]): (string | number)[] {
  const figures = Array.from({ length: PROCESSES }, () => child<ColdFigures>('cold-start-child.js', args));
  const median = (pick: (one: ColdFigures) => number): string => significant(spreadOf(figures.map(pick)).median);
  return [name, median(({ load }) => load), ...[0, 1, 9, 99].map((pass) => median(({ passes }) => passes[pass]!))];
}
