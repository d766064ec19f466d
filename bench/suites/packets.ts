/** Encoding, validating and explaining packets, against a straightforward port of the reference SDK. */
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
import { type Heat, holdRaces, type Pace, processorTime } from './contest.js';

/** Turns are longer than elsewhere, since processor time is told less finely than that on the wall. */
export const PACKET_PACE = { rounds: 61, turn: 4, warmUp: 300, now: processorTime };

export async function packets({ rounds }: Pace): Promise<RaceSection[]> {
  const pace = { ...PACKET_PACE, rounds };
  const rows = encodingRows();
  const texts = packetTexts();
  const section = (id: string, title: string, heat: Heat, note?: string): Promise<RaceSection> => {
    const contest = { id, title, unit: 'packet', anchor: SPLIT };
    return holdRaces(note === undefined ? contest : { ...contest, note }, [heat], pace);
  };
  const characters = rows.map(({ packetDraft11 }) => packetDraft11);
  return [
    await section(
      'packet-encode',
      'Encoding AACP packets',
      heat(characters, encodingRunners(rows)),
      "The port validates each packet, as the reference SDK does; pegwire's encoder checks the values, and validates when its findings are asked for.",
    ),
    await section('packet-validate', 'Validating AACP packets', heat(texts, validatingRunners(texts))),
    await section('packet-explain', 'Explaining AACP packets', heat(texts, explainingRunners(texts))),
  ];
}

function heat(texts: readonly string[], runners: readonly Runner[]): Heat {
  const characters = texts.reduce((sum, { length }) => sum + length, 0);
  return { name: 'packets', units: texts.length, characters, runners };
}
