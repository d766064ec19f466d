/** Only cutting a frame into tokens, with moo and the token table that pegwire highlights with: no tree, no verdict. */
import { frameTokens } from '../../grammar/accp.tokens.js';
import type { Candidate, Read } from '../../src/bench/candidate.js';

export const mooTokens: Candidate = {
  id: 'moo-tokens',
  name: 'moo, tokens only',
  protocol: 'accp',
  builds: 'tokens',
  prepare: async (): Promise<Read> => {
    const { default: moo } = await import('moo');
    const lexer = moo.compile(frameTokens);
    return (text) => {
      lexer.reset(text);
      let count = 0;
      while (lexer.next() !== undefined) count++;
      return count;
    };
  },
};
