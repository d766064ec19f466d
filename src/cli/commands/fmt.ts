import { UsageError } from '../io/errors.js';
import { inputName } from '../io/input.js';
import { toJson } from '../io/json.js';
import { forEachMessage, READERS } from '../io/messages.js';
import { defineCommand } from '../options/command.js';
import { dialect, flag } from '../options/option.js';
import { givenLimits, LIMIT_OPTIONS } from '../options/shared.js';

export const command = defineCommand({
  takes: 'messages',
  details: 'The input has one message per line.',
  options: {
    dialect: dialect('Grammar dialect: strict (default), lenient (accp) or tolerant (aacp)'),
    check: flag('List the lines that are not in canonical form, and exit with 1 if there are any'),
    'sort-params': flag('Sort the payload parameters too, as hashes require (accp)'),
    ...LIMIT_OPTIONS,
  },
  example: "echo '@a>req:x{m:{b:1.50,a:007}}' | pegwire fmt accp",
  run: async (invocation) => {
    const { protocol, options, output, json } = invocation;
    const sortParams = options['sort-params'];
    if (sortParams && protocol.name !== 'accp')
      throw new UsageError('--sort-params applies to accp; the fields of packets always have one order');
    const reading = { dialect: options.dialect, sortParams, limits: givenLimits(options) };
    return forEachMessage(invocation, reading, async (node, line) => {
      const canonical = READERS[protocol.name].format(node, reading);
      const same = canonical === line.text;
      if (json) await output.result(toJson({ line: line.number, ok: true, canonical, changed: !same }));
      else if (!options.check) await output.result(canonical);
      else if (!same) await output.result(`${inputName(invocation)}:${line.number}: not in canonical form`);
      return same || !options.check;
    });
  },
});
