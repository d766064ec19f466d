import { forEachMessage } from '../io/each-message.js';
import { toJson } from '../io/json.js';
import { type Command, choice } from '../options/command.js';
import { givenLimits, LIMIT_OPTIONS } from '../options/limits.js';

/** `pegwire parse`: one syntax tree a line, as JSON. */
export const parse: Command = {
  name: 'parse',
  summary: 'messages, one a line, to syntax trees as JSON',
  takesInput: true,
  options: {
    dialect: { type: 'string', description: 'NAME  strict (default); accp: lenient, aacp: tolerant' },
    spans: { type: 'boolean', description: 'put offsets on every node' },
    ...LIMIT_OPTIONS,
  },
  example: "echo '@planner>req:schedule{pri:high}' | pegwire parse accp",
  run: (invocation) => {
    const dialect = choice(invocation, 'dialect', invocation.protocol.dialects);
    const spans = invocation.options['spans'] === true;
    return forEachMessage(invocation, { dialect, spans, limits: givenLimits(invocation) }, (node, { number }) =>
      invocation.output.result(toJson(invocation.json ? { line: number, ok: true, ast: node } : node)),
    );
  },
};
