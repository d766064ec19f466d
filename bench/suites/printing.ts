/** Printing trees: canonical text, compared with `JSON.stringify` of the plain message. */
import { parsePacket, printPacket } from '../../src/aacp/index.js';
import { parseFrame, printFrame } from '../../src/accp/index.js';
import type { Sample } from '../../src/bench/candidate.js';
import { mixedPackets } from '../../src/bench/corpus/aacp.js';
import { frameCategories, mixedFrames } from '../../src/bench/corpus/accp.js';
import { plainFrame, plainPacket } from '../../src/bench/plain.js';
import type { RaceSection } from '../../src/bench/result.js';
import { handling } from '../../src/bench/workload.js';
import { plainPrintFrame, plainPrintPacket } from '../printers.js';
import { type RaceTiming, type RunnerGroup, runRaces, sizeOf } from './contest.js';

export const STRINGIFY = 'JSON.stringify';
export const PRINTER = 'pegwire printFrame';
export const PACKET_PRINTER = 'pegwire printPacket';
export const PLAIN_PRINTER = 'straightforward printer';

export async function printing(timing: RaceTiming): Promise<RaceSection[]> {
  return [
    await runRaces(
      { id: 'printing', title: 'Printing ACCP frames', unit: 'frame', anchor: STRINGIFY },
      [frameGroup('mixed', mixedFrames())],
      timing,
    ),
    await runRaces(
      { id: 'printing-categories', title: 'Printing ACCP by content', unit: 'frame', anchor: STRINGIFY },
      frameCategories().map(({ name, samples }) => frameGroup(name, samples)),
      timing,
    ),
    await runRaces(
      { id: 'printing-aacp', title: 'Printing AACP packets', unit: 'packet', anchor: STRINGIFY },
      [packetGroup('mixed', mixedPackets())],
      timing,
    ),
  ];
}

export function frameGroup(name: string, samples: readonly Sample[]): RunnerGroup {
  const frames = samples.map(({ text }) => parseFrame(text));
  return {
    name,
    ...sizeOf(samples),
    runners: [
      handling(STRINGIFY, (message) => JSON.stringify(message), frames.map(plainFrame)),
      handling(PRINTER, (frame) => printFrame(frame), frames),
      handling(PLAIN_PRINTER, plainPrintFrame, frames),
    ],
  };
}

export function packetGroup(name: string, samples: readonly Sample[]): RunnerGroup {
  const packets = samples.map(({ text }) => parsePacket(text));
  return {
    name,
    ...sizeOf(samples),
    runners: [
      handling(STRINGIFY, (message) => JSON.stringify(message), packets.map(plainPacket)),
      handling(PACKET_PRINTER, (packet) => printPacket(packet), packets),
      handling(PLAIN_PRINTER, plainPrintPacket, packets),
    ],
  };
}
