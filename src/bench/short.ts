/** The short run of `pegwire bench`, on the corpus of the package. */
import { parsePacket, printPacket } from '../aacp/index.js';
import { parseFrame, printFrame } from '../accp/index.js';
import { writeFrame } from '../accp/writer.js';
import { type Candidate, type Category, prepareAll, type Sample } from './candidate.js';
import { jsonAacp, jsonAccp } from './candidates/json.js';
import * as pegwire from './candidates/pegwire.js';
import { toonAacp, toonAccp } from './candidates/toon.js';
import { zodAacp, zodAccp } from './candidates/zod.js';
import { mixedPackets, packetCategories } from './corpus/aacp.js';
import { frameCategories, mixedFrames } from './corpus/accp.js';
import { plainFrame, plainPacket } from './plain.js';
import { type RaceOptions, type Runner, race } from './race.js';
import type { RaceGroup, RaceSection } from './result.js';
import { handling, readers } from './workload.js';

interface ShortOptions {
  /** @default 8 */
  readonly seconds?: number;
  /** `share` goes from 0 to 1. */
  readonly onProgress?: (what: string, share: number) => void | Promise<void>;
}

interface Contest {
  readonly unit: string;
  readonly anchor: string;
  readonly candidates: readonly Candidate[];
  /** Measured on each category. */
  readonly byCategory: readonly Candidate[];
  readonly samples: () => Sample[];
  readonly categories: () => Category[];
  readonly printers: (samples: readonly Sample[]) => Runner[];
}

const CONTESTS: Readonly<Record<'accp' | 'aacp', Contest>> = {
  accp: {
    unit: 'frame',
    anchor: jsonAccp.name,
    candidates: [
      ...[jsonAccp, pegwire.pegwireAccp, pegwire.rawFrames, pegwire.rawFramesSpans, pegwire.recognizeAccp],
      ...[pegwire.envelope, zodAccp, toonAccp],
    ],
    byCategory: [jsonAccp, pegwire.pegwireAccp],
    samples: mixedFrames,
    categories: frameCategories,
    printers: (samples) => {
      const trees = samples.map(({ text }) => parseFrame(text));
      return [
        handling('JSON.stringify', JSON.stringify, trees.map(plainFrame)),
        handling('pegwire writeFrame', (frame) => writeFrame(frame), trees),
        handling('pegwire printFrame', (frame) => printFrame(frame), trees),
      ];
    },
  },
  aacp: {
    unit: 'packet',
    anchor: jsonAacp.name,
    candidates: [
      ...[jsonAacp, pegwire.pegwireAacp, pegwire.rawPackets, pegwire.rawPacketsSpans, pegwire.recognizeAacp],
      ...[zodAacp, toonAacp],
    ],
    byCategory: [jsonAacp, pegwire.pegwireAacp],
    samples: mixedPackets,
    categories: packetCategories,
    printers: (samples) => {
      const trees = samples.map(({ text }) => parsePacket(text));
      return [
        handling('JSON.stringify', JSON.stringify, trees.map(plainPacket)),
        handling('pegwire printPacket', (packet) => printPacket(packet), trees),
      ];
    },
  },
};

/** Shares of the time. */
const READING = 0.5;
const CATEGORIES = 0.4;
const PRINTING = 0.1;
const ROUNDS = 15;

export async function shortRun(protocol: 'accp' | 'aacp', options: ShortOptions = {}): Promise<RaceSection[]> {
  const { seconds = 8, onProgress } = options;
  const contest = CONTESTS[protocol];
  const { unit, anchor } = contest;
  const samples = contest.samples();
  const { ready, missing } = await prepareAll(contest.candidates);
  const few = ready.filter(({ candidate }) => contest.byCategory.includes(candidate));

  let before = 0;
  const run = async (
    what: string,
    runners: readonly Runner[],
    over: string,
    share: number,
  ): Promise<RaceGroup['standings']> => {
    const milliseconds = (seconds * 1000 * share) / runners.length;
    const timing: RaceOptions = {
      anchor: over,
      rounds: ROUNDS,
      warmUp: milliseconds * 0.2,
      turn: (milliseconds * 0.8) / ROUNDS,
    };
    const onRound = async (done: number): Promise<void> => onProgress?.(what, before + (share * done) / ROUNDS);
    const standings = await race(runners, { ...timing, onRound });
    before += share;
    return standings;
  };
  const measure = (messages: readonly Sample[]): Pick<RaceGroup, 'units' | 'characters'> => ({
    units: messages.length,
    characters: messages.reduce((sum, { text }) => sum + text.length, 0),
  });

  const readingStandings = await run('reading', await readers(ready, samples), anchor, READING);
  const categories = contest.categories();
  const groups: RaceGroup[] = [];
  for (const { name, samples: some } of categories) {
    const standings = await run(name, await readers(few, some), anchor, CATEGORIES / categories.length);
    groups.push({ name, ...measure(some), standings });
  }
  const printers = contest.printers(samples);
  const printing = await run('printing', printers, printers[0]!.name, PRINTING);

  const messages = protocol.toUpperCase();
  return [
    {
      ...{ kind: 'race', id: `${protocol}-reading`, title: `Reading ${messages}`, unit, anchor, missing },
      groups: [{ name: 'mixed', ...measure(samples), standings: readingStandings }],
    },
    {
      ...{ kind: 'race', id: `${protocol}-categories`, title: `Reading ${messages}, by what it holds`, unit, anchor },
      groups,
    },
    {
      ...{ kind: 'race', id: `${protocol}-printing`, title: `Printing ${messages}`, unit, anchor: printers[0]!.name },
      groups: [{ name: 'mixed', ...measure(samples), standings: printing }],
    },
  ];
}
