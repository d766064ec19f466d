import { forEachInput } from '../io/inputs.js';
import { toJson } from '../io/json.js';
import { forEachMessage } from '../io/messages.js';
import { placeOf } from '../io/report.js';
import { defineCommand } from '../options/command.js';
import { dialect, flag } from '../options/option.js';
import { FILES, givenLimits, LIMIT_OPTIONS } from '../options/shared.js';

export const command = defineCommand({
  takes: 'files',
  details: FILES,
  options: {
    dialect: dialect('Grammar dialect: strict (default), lenient (accp) or tolerant (aacp)'),
    spans: flag('Include the start and end offset of every node'),
    ...LIMIT_OPTIONS,
  },
  example: "echo '@planner>req:schedule{pri:high}' | pegwire parse accp",
  run: (invocation) => {
    const { options, output, json } = invocation;
    const reading = { dialect: options.dialect, spans: options.spans, limits: givenLimits(options) };
    return forEachInput(invocation, (one) =>
      forEachMessage(one, reading, async (node, line) => {
        await output.result(toJson(json ? { ...placeOf(one, line), ok: true, ast: node } : node));
        return true;
      }),
    );
  },
});
