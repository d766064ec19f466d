import { forEachMessage } from '../io/each-message.js';
import { inputName } from '../io/input.js';
import { toJson } from '../io/json.js';
import { type Command, choice, UsageError } from '../options/command.js';
import { givenLimits, LIMIT_OPTIONS } from '../options/limits.js';

/** `pegwire fmt`: canonical form; with `--check`, whether the input is in it already. */
export const fmt: Command = {
  name: 'fmt',
  summary: 'messages, one a line, in canonical form',
  takesInput: true,
  options: {
    dialect: { type: 'string', description: 'NAME  strict (default); accp: lenient, aacp: tolerant' },
    check: { type: 'boolean', description: 'only name the lines that are not in canonical form; exit code 1 if any' },
    'sort-params': { type: 'boolean', description: 'accp: order payload parameters too, as for hashes' },
    ...LIMIT_OPTIONS,
  },
  example: "echo '@a>req:x{m:{b:1.50,a:007}}' | pegwire fmt accp",
  run: async (invocation) => {
    const { protocol, options, output, json } = invocation;
    const sortParams = options['sort-params'] === true;
    if (sortParams && protocol.name !== 'accp')
      throw new UsageError('--sort-params is for accp; packets have one order');
    const reading = {
      dialect: choice(invocation, 'dialect', protocol.dialects),
      sortParams,
      limits: givenLimits(invocation),
    };
    let different = 0;
    const exitCode = await forEachMessage(invocation, reading, async (node, line) => {
      const canonical = protocol.format(node, reading);
      const same = canonical === line.text;
      if (!same) different++;
      if (json) await output.result(toJson({ line: line.number, ok: true, canonical, changed: !same }));
      else if (options['check'] !== true) await output.result(canonical);
      else if (!same) await output.result(`${inputName(invocation)}:${line.number}: not in canonical form`);
    });
    return options['check'] === true && different > 0 ? 1 : exitCode;
  },
};
