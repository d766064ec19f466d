/** Options of sessions. Defined here so that reading them loads no session code. */
import { ENCODINGS } from '../../tokens/counter.js';
import { alternatives, choice, flag, instant, oneOf, text, type Values, value } from '../options/option.js';

/** The description of `--encoding` if it has a default. */
export const ENCODING_HELP = `Token encoding: ${alternatives(ENCODINGS.map((name, index) => (index === 0 ? `${name} (default)` : name)))}`;

/** The option that sets the current time. */
export const NOW = value('TIME', 'Use this as the current time, for example 2024-05-01T00:00:00Z', instant);

/** Returns the options of a session. @param agent the default name of the agent @param id describes the default session */
export function sessionOptions(agent: string, id: string) {
  return {
    session: text('FILE', 'Store the session in this SQLite file or postgres:// database, and resume it if it exists'),
    id: text('NAME', `Name of the session, which both sides share (default: ${id})`),
    agent: text(
      'NAME',
      `Name of this agent (default: ${agent}); encode and decode must use the same name to share a session`,
    ),
    text: value(
      'NAME',
      'Strings that a frame cannot contain: reject (default), or transliterate, which is reversible',
      oneOf(['reject', 'transliterate']),
    ),
    compact: flag('Announce and send compact frames, once the other side has announced them (profile compact1)'),
    sequence: choice('NAME', 'Number frames per session (default) or per sender', ['session', 'sender']),
    encoding: value(
      'NAME',
      `Count tokens exactly with ${alternatives(ENCODINGS)} (default: estimate them)`,
      oneOf(ENCODINGS),
    ),
    now: NOW,
    'no-state': flag('Do not keep context state: no checkpoints and no budgets'),
  };
}

export type SessionOptions = Values<ReturnType<typeof sessionOptions>>;
