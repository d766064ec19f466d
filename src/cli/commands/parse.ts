import { toJson } from '../io/json.js';
import { forEachMessage } from '../io/messages.js';
import { defineCommand } from '../options/command.js';
import { dialect, flag } from '../options/option.js';
import { givenLimits, LIMIT_OPTIONS } from '../options/shared.js';

export const command = defineCommand({
  takes: 'messages',
  details: 'The input has one message per line.',
  options: {
    dialect: dialect('Grammar dialect: strict (default), lenient (accp) or tolerant (aacp)'),
    spans: flag('Include the start and end offset of every node'),
    ...LIMIT_OPTIONS,
  },
  example: "echo '@planner>req:schedule{pri:high}' | pegwire parse accp",
  run: (invocation) => {
    const { options, output, json } = invocation;
    const reading = { dialect: options.dialect, spans: options.spans, limits: givenLimits(options) };
    return forEachMessage(invocation, reading, async (node, { number }) => {
      await output.result(toJson(json ? { line: number, ok: true, ast: node } : node));
      return true;
    });
  },
});
