/** The options of commands that work through an ACCP session. No code of sessions is loaded for them. */
import { ENCODINGS } from '../tokens/counter.js';
import { NOW_OPTION } from './now.js';
import type { OptionSpec } from './usage.js';

export const SEQUENCES = ['session', 'sender'] as const;
export const TEXTS = ['reject', 'transliterate'] as const;

/** @param agent who works where nobody is named; @param id what the session is called where it is not named */
export function sessionOptions(agent: string, id: string): Readonly<Record<string, OptionSpec>> {
  return {
    session: { type: 'string', description: 'FILE  keep the session in this SQLite file, or go on with it' },
    id: { type: 'string', description: `NAME  of the session, the same on both sides; by default ${id}` },
    agent: {
      type: 'string',
      description: `NAME  who works here (${agent}); encode and decode of one agent share its end of the session`,
    },
    text: {
      type: 'string',
      description: 'NAME  strings that the grammar cannot write: reject (default), or transliterate, reversibly',
    },
    sequence: {
      type: 'string',
      description: 'NAME  what counts frames: session (default), one count for all; or sender, one for each agent',
    },
    encoding: {
      type: 'string',
      description: `NAME  count tokens exactly, in ${ENCODINGS.join(', ')}; by default they are estimated`,
    },
    now: NOW_OPTION,
    'no-state': { type: 'boolean', description: 'leave context state out: no checkpoints, no budgets' },
  };
}
