/** The obvious way to read AACP: `split('|')`, and patterns for what strict reading rejects. */
import type { Packet } from '../../src/aacp/ast.js';
import type { Candidate } from '../../src/bench/candidate.js';

const MAX_LENGTH = 1_048_576;
const MAX_FIELDS = 100_000;
const NAME = /^[A-Z][A-Z0-9_-]*$/;
const KEY = /^[a-z][a-z0-9_]*$/;
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const BAD_VALUE = /[\x00-\x1f\x7f]|^ | $/;

export const split: Candidate = {
  id: 'split',
  name: "split('|') by hand",
  protocol: 'aacp',
  builds: 'ast',
  prepare: async () => parseBySplitting,
};

function parseBySplitting(text: string): Packet {
  if (text.length > MAX_LENGTH) throw new SyntaxError('too long');
  const [task = '', domain = '', ...slots] = text.split('|');
  if (!NAME.test(task) || !NAME.test(domain)) throw new SyntaxError('bad TASK or DOM');
  if (slots.length > MAX_FIELDS) throw new SyntaxError('too many fields');
  const fields = slots.map((slot) => {
    const colon = slot.indexOf(':');
    const key = slot.slice(0, colon);
    const value = slot.slice(colon + 1);
    if (colon < 1 || !KEY.test(key) || BAD_VALUE.test(value)) throw new SyntaxError(`bad field ${slot}`);
    return { key, value };
  });
  return { kind: 'packet', task, domain, fields };
}
