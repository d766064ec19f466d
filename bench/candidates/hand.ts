/** The baselines as candidates. */
import type { Candidate } from '../../src/bench/candidate.js';

export const handAccp: Candidate = {
  id: 'hand-accp',
  name: 'hand-written',
  protocol: 'accp',
  builds: 'ast',
  prepare: async () => (await import('./hand-accp.js')).parseByHand,
};

export const handAccpRecognize: Candidate = {
  id: 'hand-accp-recognize',
  name: 'hand-written, recognize only',
  protocol: 'accp',
  builds: 'verdict',
  prepare: async () => (await import('./hand-accp-recognize.js')).recognizeByHand,
};

export const handAacp: Candidate = {
  id: 'hand-aacp',
  name: 'hand-written',
  protocol: 'aacp',
  builds: 'ast',
  prepare: async () => (await import('./hand-aacp.js')).parseByHand,
};
