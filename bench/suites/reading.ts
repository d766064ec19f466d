/** Reading ACCP and AACP: everybody on the mixed corpus, the main ones by size and by content, and the message corpus. */
import type { Category, Sample } from '../../src/bench/candidate.js';
import * as pegwire from '../../src/bench/candidates/pegwire.js';
import { jsonAacp, jsonAccp } from '../../src/bench/candidates/plain.js';
import { packetCategories } from '../../src/bench/corpus/aacp.js';
import { frameCategories, mixedFrames } from '../../src/bench/corpus/accp.js';
import type { RaceSection } from '../../src/bench/result.js';
import { handAacp, handAccp } from '../candidates/hand.js';
import { stockPeggyAccp } from '../candidates/stock-peggy.js';
import { messageSamples } from '../corpus/messages.js';
import { holdReadingRaces, type Pace } from './contest.js';
import { everybody } from './mixed.js';

/** Frames by length: what costs how much differs between short and long ones. */
function bySize(samples: readonly Sample[]): Category[] {
  const bounds = [0, 60, 150, 400, 1000, Number.POSITIVE_INFINITY];
  return bounds.slice(1).map((below, index) => {
    const from = bounds[index]!;
    const name = below === Number.POSITIVE_INFINITY ? `from ${from} B on` : `${from} to ${below - 1} B`;
    return { name, samples: samples.filter(({ text }) => text.length >= from && text.length < below) };
  });
}

const MAIN = [jsonAccp, pegwire.pegwireAccp, pegwire.rawFrames, handAccp];

export async function readingFrames(pace: Pace): Promise<RaceSection[]> {
  const contest = { unit: 'frame', anchor: jsonAccp.name };
  const mixed = mixedFrames();
  return [
    await everybody('accp', pace),
    await holdReadingRaces(
      { ...contest, id: 'accp-messages', title: 'Reading the message corpus' },
      [...MAIN, stockPeggyAccp],
      [{ name: 'messages', samples: messageSamples() }],
      pace,
    ),
    await holdReadingRaces(
      { ...contest, id: 'accp-size', title: 'Reading ACCP by length' },
      MAIN,
      bySize([...mixed, ...messageSamples()]),
      pace,
    ),
    await holdReadingRaces(
      { ...contest, id: 'accp-categories', title: 'Reading ACCP by content' },
      MAIN,
      frameCategories(),
      pace,
    ),
  ];
}

export async function readingPackets(pace: Pace): Promise<RaceSection[]> {
  const contest = { unit: 'packet', anchor: jsonAacp.name };
  return [
    await everybody('aacp', pace),
    await holdReadingRaces(
      { ...contest, id: 'aacp-size', title: 'Reading AACP by length' },
      [jsonAacp, pegwire.pegwireAacp, pegwire.rawPackets, handAacp],
      packetCategories(),
      pace,
    ),
  ];
}

/** What offsets on every node cost: the raw parser with them, against itself without. */
export async function spans(pace: Pace): Promise<RaceSection[]> {
  return [
    await holdReadingRaces(
      { id: 'spans', title: 'Offsets on every node', unit: 'frame', anchor: pegwire.rawFrames.name },
      [pegwire.rawFrames, pegwire.rawFramesSpans],
      [{ name: 'mixed', samples: mixedFrames() }],
      pace,
    ),
  ];
}
