import type { ParseError } from '../../text/errors.js';
import type { Found } from '../../text/prose.js';
import { inputName, readAll } from '../input.js';
import { toJson } from '../json.js';
import { type Command, choice } from '../usage.js';

/** `pegwire find`: the messages inside any text. */
export const find: Command = {
  name: 'find',
  summary: 'the messages inside any text (prose, Markdown, JSON, logs), with their offsets',
  takesInput: true,
  options: {
    dialect: { type: 'string', description: 'NAME  strict (default); accp: lenient, aacp: tolerant' },
    spans: { type: 'boolean', description: 'with --json: put offsets on every node' },
  },
  example: 'pegwire find accp transcript.md',
  run: async (invocation) => {
    const { protocol, output, json, options } = invocation;
    const reading = { dialect: choice(invocation, 'dialect', protocol.dialects), spans: options['spans'] === true };
    const text = await readAll(invocation);
    const found = protocol.find(text, reading);
    for (const item of found) {
      if (json) await output.result(toJson(asJson(item)));
      else
        await output.result(
          `${item.start}-${item.end}\t${item.ok ? 'ok' : item.error.code}\t${item.decoded ?? item.text}`,
        );
      if (!json && !item.ok)
        await output.note(`${item.error.format({ name: `${inputName(invocation)}@${item.start}` })}\n`);
    }
    const broken = found.filter(({ ok }) => !ok).length;
    if (!json) await output.note(`${found.length} found, ${broken} broken`);
    return broken > 0 ? 1 : 0;
  },
};

function asJson(item: Found<unknown, ParseError>): object {
  const { start, end, text, decoded } = item;
  const place = { start, end, text, ...(decoded === undefined ? {} : { decoded }) };
  return item.ok ? { ...place, ok: true, ast: item.value } : { ...place, ok: false, error: item.error };
}
