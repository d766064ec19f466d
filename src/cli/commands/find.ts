import type { ParseError } from '../../text/errors.js';
import type { Found } from '../../text/prose.js';
import { visible } from '../../text/visible.js';
import { inputName, type Line, readAll, withoutReturn } from '../io/input.js';
import { foundRecord, toJson } from '../io/json.js';
import { READERS } from '../io/messages.js';
import { type Reporting, reporting, reportText } from '../io/report.js';
import { defineCommand } from '../options/command.js';
import { dialect, flag } from '../options/option.js';
import { givenLimits, LIMIT_OPTIONS } from '../options/shared.js';

type Broken = Found<unknown, ParseError> & { readonly ok: false };

export const command = defineCommand({
  takes: 'messages',
  options: {
    dialect: dialect('strict (default); accp: lenient, aacp: tolerant'),
    spans: flag('with --json: put offsets on every node'),
    ...LIMIT_OPTIONS,
  },
  details:
    'Offsets count UTF-16 code units, as string indexes of JavaScript do, from 0 at the start of the text and without its byte order ' +
    'mark. Text that is not UTF-8 is read with U+FFFD in the place of each invalid sequence of bytes, which counts as 1.',
  example: 'pegwire find accp transcript.md',
  run: async (invocation) => {
    const { protocol, output, json, options } = invocation;
    const reading = { dialect: options.dialect, spans: options.spans, limits: givenLimits(options) };
    const { text, isUtf8 } = await readAll(invocation);
    if (!isUtf8) {
      const notice = `${inputName(invocation)} is not all UTF-8: U+FFFD stands for each invalid sequence of bytes`;
      await output.note(json ? toJson({ notice }) : `${notice}.`);
    }
    const found = READERS[protocol.name].find(text, reading);
    const lineAt = lineFinder(text);
    for (const item of found) {
      if (json) {
        await output.result(toJson(foundRecord(item)));
        continue;
      }
      // The text may hold control characters.
      const shown = visible(item.decoded ?? item.text);
      await output.result(`${item.start}-${item.end}\t${item.ok ? 'ok' : item.error.code}\t${shown}`);
      if (!item.ok) await output.note(`${problem(item, lineAt(item.start), invocation)}\n`);
    }
    const broken = found.filter(({ ok }) => !ok).length;
    if (!json) await output.note(`${found.length} found, ${broken} broken`);
    return broken > 0 ? 1 : 0;
  },
});

/** Longer lines are not printed for every broken message in them. */
const MAX_LINE = 10_000;

/** Shows the line; or the message alone if the line is too long or escapes it as JSON. */
function problem(item: Broken, line: ReturnType<ReturnType<typeof lineFinder>>, invocation: Reporting): string {
  const { start, error } = item;
  const { number, offset, text } = line;
  if (item.decoded !== undefined || text.length > MAX_LINE || error.span === null) {
    return reportText(
      error,
      'error',
      { number: 1, text: item.decoded ?? item.text },
      { ...reporting(invocation), name: `${inputName(invocation)}@${start}` },
    );
  }
  const shift = start - offset;
  const span = { start: error.span.start + shift, end: error.span.end + shift };
  const { code, message, help } = error;
  return reportText({ code, message, span, help }, 'error', { number, text }, reporting(invocation));
}

/** Finds lines of a text by ascending offsets. */
function lineFinder(text: string): (offset: number) => Line & { readonly offset: number } {
  let number = 1;
  let start = 0;
  const endOf = (from: number): number => {
    const end = text.indexOf('\n', from);
    return end < 0 ? text.length : end;
  };
  let end = endOf(0);
  return (offset) => {
    for (; end < offset; end = endOf(start)) {
      number++;
      start = end + 1;
    }
    return { number, offset: start, text: withoutReturn(text.slice(start, end)) };
  };
}
