/** Encoding, validating and explaining packets, compared with a straightforward port of the reference SDK. */
import type { Runner } from '../../src/bench/race.js';
import type { RaceSection } from '../../src/bench/result.js';
import {
  encodingRows,
  encodingRunners,
  explainingRunners,
  packetTexts,
  SPLIT,
  validatingRunners,
} from '../aacp/packet-work.js';
import { processorTime, type RaceTiming, type RunnerGroup, runRaces } from './contest.js';

/** Turns are longer than elsewhere, because processor time has a coarser resolution. */
export const PACKET_TIMING = { rounds: 61, turnMs: 4, warmUpMs: 300, now: processorTime };

export async function packets({ rounds }: RaceTiming): Promise<RaceSection[]> {
  const timing = { ...PACKET_TIMING, rounds };
  const rows = encodingRows();
  const texts = packetTexts();
  const section = (id: string, title: string, group: RunnerGroup, note?: string): Promise<RaceSection> => {
    const contest = { id, title, unit: 'packet', anchor: SPLIT };
    return runRaces(note === undefined ? contest : { ...contest, note }, [group], timing);
  };
  const characters = rows.map(({ packetDraft11 }) => packetDraft11);
  return [
    await section(
      'packet-encode',
      'Encoding AACP packets',
      group(characters, encodingRunners(rows)),
      "The port validates each packet, as the reference SDK does; pegwire's encoder checks the values, and validates when its findings are read.",
    ),
    await section('packet-validate', 'Validating AACP packets', group(texts, validatingRunners(texts))),
    await section('packet-explain', 'Explaining AACP packets', group(texts, explainingRunners(texts))),
  ];
}

function group(texts: readonly string[], runners: readonly Runner[]): RunnerGroup {
  const characters = texts.reduce((sum, { length }) => sum + length, 0);
  return { name: 'packets', units: texts.length, characters, runners };
}
