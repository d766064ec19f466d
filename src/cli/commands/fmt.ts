import { UsageError } from '../io/errors.js';
import { inputName } from '../io/input.js';
import { toJson } from '../io/json.js';
import { forEachMessage, READERS } from '../io/messages.js';
import { defineCommand } from '../options/command.js';
import { dialect, flag } from '../options/option.js';
import { givenLimits, LIMIT_OPTIONS } from '../options/shared.js';

export const command = defineCommand({
  takes: 'messages',
  options: {
    dialect: dialect('strict (default); accp: lenient, aacp: tolerant'),
    check: flag('only name the lines that are not in canonical form; exit code 1 if any'),
    'sort-params': flag('accp: order payload parameters too, as for hashes'),
    ...LIMIT_OPTIONS,
  },
  example: "echo '@a>req:x{m:{b:1.50,a:007}}' | pegwire fmt accp",
  run: async (invocation) => {
    const { protocol, options, output, json } = invocation;
    const sortParams = options['sort-params'];
    if (sortParams && protocol.name !== 'accp')
      throw new UsageError('--sort-params is for accp; packets have one order');
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
