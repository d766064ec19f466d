/** The second, independent grammars of pegwire in Ohm, with the semantics of the tests. They are made for clarity, not for speed. */
import type { Candidate, Read } from '../../src/bench/candidate.js';

export const ohmAccp: Candidate = {
  id: 'ohm-accp',
  name: 'Ohm',
  protocol: 'accp',
  builds: 'ast',
  prepare: async (): Promise<Read> => {
    const { parseWithOhm } = await import('../../test/oracle/accp.js');
    return (text) => accepted(parseWithOhm(text, 'strict'));
  },
};

export const ohmAacp: Candidate = {
  id: 'ohm-aacp',
  name: 'Ohm',
  protocol: 'aacp',
  builds: 'ast',
  prepare: async (): Promise<Read> => {
    const { parseWithOhm } = await import('../../test/oracle/aacp.js');
    return (text) => accepted(parseWithOhm(text, 'strict'));
  },
};

function accepted(tree: object | null): object {
  if (tree === null) throw new SyntaxError('refused');
  return tree;
}
