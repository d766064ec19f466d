import type { Candidate } from '../candidate.js';

/** `JSON.parse` of the equivalent plain message: what every other figure is held against. */
export const jsonAccp: Candidate = json('accp');
export const jsonAacp: Candidate = json('aacp');

function json(protocol: 'accp' | 'aacp'): Candidate {
  return {
    id: `json-${protocol}`,
    name: 'JSON.parse',
    protocol,
    builds: 'plain',
    input: (sample) => sample.json,
    // A function around it: as an argument of its own, JSON.parse could be given a second one.
    prepare: async () => (text) => JSON.parse(text),
  };
}
