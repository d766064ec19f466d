/** Measures one candidate with benchmark.js: `node --expose-gc isolated-child.js ID`. */
import process from 'node:process';
import Benchmark from 'benchmark';
import { mixedPackets } from '../../src/bench/corpus/aacp.js';
import { mixedFrames } from '../../src/bench/corpus/accp.js';
import { handling, inputsOf } from '../../src/bench/workload.js';
import { CANDIDATES } from '../candidates/index.js';

export interface IsolatedFigures {
  /** Messages per second. */
  readonly perSecond: number;
  /** Relative margin of error, in percent. */
  readonly deviation: number;
  readonly heapMegabytes: number;
}

const candidate = CANDIDATES.find(({ id }) => id === process.argv[2])!;
const samples = candidate.protocol === 'accp' ? mixedFrames() : mixedPackets();
const read = await candidate.prepare();
const texts = await inputsOf({ candidate, read }, samples);
const { pass } = handling(candidate.name, read, texts);

const { hz, stats } = new Benchmark(candidate.id, pass, { maxTime: 1.5, minSamples: 15 }).run();
globalThis.gc?.();
const figures: IsolatedFigures = {
  perSecond: hz * texts.length,
  deviation: stats.rme,
  heapMegabytes: process.memoryUsage().heapUsed / 2 ** 20,
};
console.log(JSON.stringify(figures));
