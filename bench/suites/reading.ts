/** Reading ACCP and AACP: all candidates on the mixed corpus, the main ones by length and by content, and the message corpus. */
import type { Category, Sample } from '../../src/bench/candidate.js';
import * as pegwire from '../../src/bench/candidates/pegwire.js';
import { jsonAacp, jsonAccp } from '../../src/bench/candidates/plain.js';
import { packetCategories } from '../../src/bench/corpus/aacp.js';
import { frameCategories, mixedFrames } from '../../src/bench/corpus/accp.js';
import type { RaceSection } from '../../src/bench/result.js';
import { handAacp, handAccp } from '../candidates/hand.js';
import { stockPeggyAccp } from '../candidates/stock-peggy.js';
import { messageSamples } from '../corpus/messages.js';
import { type RaceTiming, runReadingRaces } from './contest.js';
import { allCandidates } from './mixed.js';

/** Frames by length, because costs differ between short and long ones. */
function bySize(samples: readonly Sample[]): Category[] {
  const bounds = [0, 60, 150, 400, 1000, Number.POSITIVE_INFINITY];
  return bounds.slice(1).map((below, index) => {
    const from = bounds[index]!;
    const name = below === Number.POSITIVE_INFINITY ? `${from} B or more` : `${from} to ${below - 1} B`;
    return { name, samples: samples.filter(({ text }) => text.length >= from && text.length < below) };
  });
}

const MAIN = [jsonAccp, pegwire.pegwireAccp, pegwire.rawFrames, handAccp];

export async function readingFrames(timing: RaceTiming): Promise<RaceSection[]> {
  const contest = { unit: 'frame', anchor: jsonAccp.name };
  const mixed = mixedFrames();
  return [
    await allCandidates('accp', timing),
    await runReadingRaces(
      { ...contest, id: 'accp-messages', title: 'Reading the message corpus' },
      [...MAIN, stockPeggyAccp],
      [{ name: 'messages', samples: messageSamples() }],
      timing,
    ),
    await runReadingRaces(
      { ...contest, id: 'accp-size', title: 'Reading ACCP by length' },
      MAIN,
      bySize([...mixed, ...messageSamples()]),
      timing,
    ),
    await runReadingRaces(
      { ...contest, id: 'accp-categories', title: 'Reading ACCP by content' },
      MAIN,
      frameCategories(),
      timing,
    ),
  ];
}

export async function readingPackets(timing: RaceTiming): Promise<RaceSection[]> {
  const contest = { unit: 'packet', anchor: jsonAacp.name };
  return [
    await allCandidates('aacp', timing),
    await runReadingRaces(
      { ...contest, id: 'aacp-size', title: 'Reading AACP by length' },
      [jsonAacp, pegwire.pegwireAacp, pegwire.rawPackets, handAacp],
      packetCategories(),
      timing,
    ),
  ];
}

/** The cost of offsets on every node: the raw parser with them, compared with itself without. */
export async function spans(timing: RaceTiming): Promise<RaceSection[]> {
  return [
    await runReadingRaces(
      { id: 'spans', title: 'Offsets on every node', unit: 'frame', anchor: pegwire.rawFrames.name },
      [pegwire.rawFrames, pegwire.rawFramesSpans],
      [{ name: 'mixed', samples: mixedFrames() }],
      timing,
    ),
  ];
}
