import { sessionOptions } from '../session-options.js';
import type { Command } from '../usage.js';

const AGENT = 'sender';

/** `pegwire encode`: messages as JSON to frames, through a session. */
export const encode: Command = {
  name: 'encode',
  summary: 'messages as JSON, one a line, to frames, through a session',
  takesInput: true,
  protocols: ['accp'],
  options: {
    ...sessionOptions(AGENT, 'the last one of the file, or one of its name; without a file, a new one'),
    refs: { type: 'boolean', description: 'take {"$ref":"warm.x"} for a reference to state; without, it is data' },
    'keep-envelope': {
      type: 'boolean',
      description:
        'keep sequence and session_id of an envelope, too, which then have to be those of the session; msg_id, ' +
        'timestamp and the rest are kept anyway',
    },
  },
  details:
    'A message has intent and operation, and may have agent, schema, payload and envelope, under the full names of ' +
    'their fields; a JSON text is what somebody says in a chat. Integers of any size are JSON numbers with all of ' +
    'their digits.',
  example: `echo '{"intent":"req","operation":"find","payload":{"query":"cats"}}' | pegwire encode accp`,
  run: async (invocation) => {
    const { options } = invocation;
    const reading = { refs: options['refs'] === true, keepEnvelope: options['keep-envelope'] === true };
    // Loaded only now: the other commands need none of it.
    const { encodeLines } = await import('../encoding.js');
    return encodeLines(invocation, reading, AGENT);
  },
};
