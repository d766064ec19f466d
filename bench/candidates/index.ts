/** All candidates. The first of each protocol is the anchor of the comparison. */
import type { Candidate } from '../../src/bench/candidate.js';
import * as pegwire from '../../src/bench/candidates/pegwire.js';
import { jsonAacp, jsonAccp, toonAacp, toonAccp, zodAacp, zodAccp } from '../../src/bench/candidates/plain.js';
import { handAacp, handAccp, handAccpRecognize } from './hand.js';
import { ohmAacp, ohmAccp } from './ohm.js';
import { split } from './split.js';
import { stockPeggyAacp, stockPeggyAccp } from './stock-peggy.js';

export const CANDIDATES: readonly Candidate[] = [
  jsonAccp,
  ...[pegwire.pegwireAccp, pegwire.rawFrames, pegwire.rawFramesSpans, pegwire.recognizeAccp, pegwire.envelope],
  ...[handAccp, handAccpRecognize, zodAccp, stockPeggyAccp, toonAccp, ohmAccp],
  jsonAacp,
  ...[pegwire.pegwireAacp, pegwire.rawPackets, pegwire.rawPacketsSpans, pegwire.recognizeAacp],
  ...[handAacp, split, zodAacp, stockPeggyAacp, toonAacp, ohmAacp],
];

export function candidatesOf(protocol: 'accp' | 'aacp'): readonly Candidate[] {
  return CANDIDATES.filter((candidate) => candidate.protocol === protocol);
}
