/**
 * All candidates on the mixed corpus, in two processes: next to parsers that leave hundreds of megabytes of garbage,
 * others take up to four times as long as alone.
 */
import type { Candidate, Sample } from '../../src/bench/candidate.js';
import { jsonAacp, jsonAccp } from '../../src/bench/candidates/plain.js';
import { mixedPackets } from '../../src/bench/corpus/aacp.js';
import { mixedFrames } from '../../src/bench/corpus/accp.js';
import type { RaceSection } from '../../src/bench/result.js';
import { candidatesOf } from '../candidates/index.js';
import { ohmAacp, ohmAccp } from '../candidates/ohm.js';
import { child } from './child.js';
import { type Contest, type RaceTiming, runReadingRaces } from './contest.js';

type Protocol = 'accp' | 'aacp';

export const MIXED: Readonly<Record<Protocol, { readonly contest: Contest; readonly samples: () => Sample[] }>> = {
  accp: {
    contest: { id: 'accp', title: 'Reading ACCP frames of 30 B to 2 KB', unit: 'frame', anchor: jsonAccp.name },
    samples: mixedFrames,
  },
  aacp: {
    contest: {
      ...{ id: 'aacp', title: 'Reading AACP packets of 24 to 528 characters', unit: 'packet', anchor: jsonAacp.name },
    },
    samples: mixedPackets,
  },
};

const SLOW: readonly Candidate[] = [ohmAccp, ohmAacp];

/** The slow candidates, with their anchor. */
export function slowReaders(protocol: Protocol): readonly Candidate[] {
  const { anchor } = MIXED[protocol].contest;
  return candidatesOf(protocol).filter((candidate) => candidate.name === anchor || SLOW.includes(candidate));
}

/** Returns one table of all candidates. The ratios of the slow ones are relative to the anchor in their own process. */
export async function allCandidates(protocol: Protocol, timing: RaceTiming): Promise<RaceSection> {
  const { contest, samples } = MIXED[protocol];
  const quick = candidatesOf(protocol).filter((candidate) => !SLOW.includes(candidate));
  const section = await runReadingRaces(contest, quick, [{ name: 'mixed', samples: samples() }], timing);
  const slow = child<RaceSection>('slow-child.js', [protocol, JSON.stringify(timing)], ['--expose-gc']);
  const [group] = section.groups;
  const others = slow.groups[0]!.results.filter(({ name }) => name !== contest.anchor);
  return {
    ...section,
    groups: [{ ...group!, results: [...group!.results, ...others] }],
    missing: [...(section.missing ?? []), ...(slow.missing ?? [])],
    note: `In a separate process, relative to ${contest.anchor} there: ${others.map(({ name }) => name).join(', ')}. Their garbage slows others down.`,
  };
}
