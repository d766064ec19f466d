import type { Candidate } from '../candidate.js';

/** The baseline: `JSON.parse` of the equivalent message. */
export const jsonAccp: Candidate = json('accp');
export const jsonAacp: Candidate = json('aacp');

function json(protocol: 'accp' | 'aacp'): Candidate {
  return {
    id: `json-${protocol}`,
    name: 'JSON.parse',
    protocol,
    builds: 'plain',
    input: (sample) => sample.json,
    // Wrapped: JSON.parse must not get a second argument.
    prepare: async () => (text) => JSON.parse(text),
  };
}
