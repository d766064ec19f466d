/** Session options. No code of sessions is loaded for them. */
import { ENCODINGS } from '../../tokens/counter.js';
import { choice, flag, instant, oneOf, text, type Values, value } from '../options/option.js';

export const NOW = value('TIME', 'Use this time as the current time, for example 2024-05-01T00:00:00Z.', instant);

/** @param agent the default name @param id describes the default session */
export function sessionOptions(agent: string, id: string) {
  return {
    session: text('FILE', 'keep the session in this SQLite file, or go on with it'),
    id: text('NAME', `of the session, the same on both sides; by default ${id}`),
    agent: text('NAME', `who works here (${agent}); encode and decode of one agent share its end of the session`),
    text: value(
      'NAME',
      'strings that the grammar cannot write: reject (default), or transliterate, reversibly',
      oneOf(['reject', 'transliterate']),
    ),
    sequence: choice(
      'NAME',
      'what counts frames: session (default), one count for all; or sender, one for each agent',
      ['session', 'sender'],
    ),
    encoding: value(
      'NAME',
      `count tokens exactly, in ${ENCODINGS.join(', ')}; by default they are estimated`,
      oneOf(ENCODINGS),
    ),
    now: NOW,
    'no-state': flag('leave context state out: no checkpoints, no budgets'),
  };
}

export type SessionOptions = Values<ReturnType<typeof sessionOptions>>;
