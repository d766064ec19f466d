import { type Command, choice } from '../options/command.js';
import { sessionOptions } from '../session/options.js';

const AGENT = 'receiver';

/** `pegwire decode`: frames to messages as JSON, through a session. */
export const decode: Command = {
  name: 'decode',
  summary: 'frames, one a line, to messages as JSON, through a session',
  takesInput: true,
  protocols: ['accp'],
  options: {
    ...sessionOptions(AGENT, 'the one that the first frame names, or else the last one of the file'),
    dialect: { type: 'string', description: 'NAME  strict (default) or lenient' },
    replies: {
      type: 'string',
      description:
        'FILE  write frames that have to be sent back (errors, negotiation, what was lost) there, one a line; by default ' +
        'they are told on stderr',
    },
  },
  details:
    'Integers of any size come as JSON numbers with all of their digits. A chunk of a stream comes when its frame ' +
    'does; chunk_index tells its place. A message in several frames comes with the last one.',
  example: "echo '@planner>req:schedule{pri:high}[mid:m1,seq:1]' | pegwire decode accp",
  run: async (invocation) => {
    const dialect = choice(invocation, 'dialect', ['strict', 'lenient'] as const);
    // Loaded only now: the other commands need none of it.
    const { decodeLines } = await import('../decoding.js');
    return decodeLines(invocation, dialect, AGENT);
  },
};
