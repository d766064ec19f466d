/** The short run of `pegwire bench`, on the corpus of the package. */
import { parsePacket, printPacket } from '../aacp/index.js';
import { parseFrame, printFrame } from '../accp/index.js';
import { type Candidate, type Category, prepareAll, type Sample } from './candidate.js';
import * as pegwire from './candidates/pegwire.js';
import { jsonAacp, jsonAccp, toonAacp, toonAccp, zodAacp, zodAccp } from './candidates/plain.js';
import { mixedPackets, packetCategories } from './corpus/aacp.js';
import { frameCategories, mixedFrames } from './corpus/accp.js';
import { plainFrame, plainPacket } from './plain.js';
import { type Runner, race } from './race.js';
import type { RaceGroup, RaceSection } from './result.js';
import { handling, readers } from './workload.js';

interface ShortOptions {
  readonly durationMs: number;
  /** `share` is the completed share of the run, from 0 to 1. */
  readonly onProgress: (what: string, share: number) => Promise<void>;
}

interface Contest {
  readonly unit: string;
  /** The anchor first. It and the second one are measured on each category. */
  readonly candidates: readonly Candidate[];
  readonly samples: () => Sample[];
  readonly categories: () => Category[];
  readonly printers: (samples: readonly Sample[]) => Runner[];
}

const CONTESTS: Readonly<Record<'accp' | 'aacp', Contest>> = {
  accp: {
    unit: 'frame',
    candidates: [
      ...[jsonAccp, pegwire.pegwireAccp, pegwire.rawFrames, pegwire.rawFramesSpans, pegwire.recognizeAccp],
      ...[pegwire.envelope, zodAccp, toonAccp],
    ],
    samples: mixedFrames,
    categories: frameCategories,
    printers: (samples) => {
      const trees = samples.map(({ text }) => parseFrame(text));
      return [
        handling('JSON.stringify', JSON.stringify, trees.map(plainFrame)),
        handling('pegwire printFrame', (frame) => printFrame(frame), trees),
      ];
    },
  },
  aacp: {
    unit: 'packet',
    candidates: [
      ...[jsonAacp, pegwire.pegwireAacp, pegwire.rawPackets, pegwire.rawPacketsSpans, pegwire.recognizeAacp],
      ...[zodAacp, toonAacp],
    ],
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

/** The shares of the total time. */
const READING = 0.5;
const CATEGORIES = 0.4;
const PRINTING = 0.1;
const ROUNDS = 15;

export async function shortRun(
  protocol: 'accp' | 'aacp',
  { durationMs, onProgress }: ShortOptions,
): Promise<RaceSection[]> {
  const contest = CONTESTS[protocol];
  const samples = contest.samples();
  const { ready, missing } = await prepareAll(contest.candidates);
  const few = ready.filter(({ candidate }) => contest.candidates.indexOf(candidate) < 2);
  const anchor = contest.candidates[0]!.name;

  let before = 0;
  const run = async (
    what: string,
    runners: readonly Runner[],
    over: string,
    share: number,
  ): Promise<RaceGroup['results']> => {
    const milliseconds = (durationMs * share) / runners.length;
    const results = await race(runners, {
      anchor: over,
      rounds: ROUNDS,
      warmUpMs: milliseconds * 0.2,
      turnMs: (milliseconds * 0.8) / ROUNDS,
      onRound: (done) => onProgress(what, before + (share * done) / ROUNDS),
    });
    before += share;
    return results;
  };
  const measure = (messages: readonly Sample[]): Pick<RaceGroup, 'units' | 'characters'> => ({
    units: messages.length,
    characters: messages.reduce((sum, { text }) => sum + text.length, 0),
  });

  const readingResults = await run('reading', await readers(ready, samples), anchor, READING);
  const categories = contest.categories();
  const groups: RaceGroup[] = [];
  for (const { name, samples: some } of categories) {
    const results = await run(name, await readers(few, some), anchor, CATEGORIES / categories.length);
    groups.push({ name, ...measure(some), results });
  }
  const printers = contest.printers(samples);
  const printing = await run('printing', printers, printers[0]!.name, PRINTING);

  const messages = protocol.toUpperCase();
  const mixed = (results: RaceGroup['results']) => [{ name: 'mixed', ...measure(samples), results }];
  const section = (id: string, title: string, over = anchor) =>
    ({ kind: 'race', id: `${protocol}-${id}`, title, unit: contest.unit, anchor: over }) as const;
  return [
    { ...section('reading', `Reading ${messages}`), missing, groups: mixed(readingResults) },
    { ...section('categories', `Reading ${messages}, by content`), groups },
    { ...section('printing', `Printing ${messages}`, printers[0]!.name), groups: mixed(printing) },
  ];
}
