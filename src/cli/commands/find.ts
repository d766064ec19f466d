import type { ParseError } from '../../text/errors.js';
import type { Found } from '../../text/prose.js';
import { visible } from '../../text/visible.js';
import { inputName, type Line, readAll, withoutReturn } from '../io/input.js';
import { foundRecord, toJson } from '../io/json.js';
import { READERS } from '../io/messages.js';
import { labelled } from '../io/output.js';
import { type Reporting, reporting, reportText } from '../io/report.js';
import { defineCommand } from '../options/command.js';
import { dialect, flag } from '../options/option.js';
import { givenLimits, LIMIT_OPTIONS } from '../options/shared.js';

type Invalid = Found<unknown, ParseError> & { readonly ok: false };

export const command = defineCommand({
  takes: 'messages',
  options: {
    dialect: dialect('Grammar dialect: strict (default), lenient (accp) or tolerant (aacp)'),
    spans: flag('With --json: include the start and end offset of every node'),
    ...LIMIT_OPTIONS,
  },
  details:
    'Prints the start and end offset, ok or the error code, and the text of each message, separated by tabs. Offsets are UTF-16 code ' +
    'units, as in JavaScript strings; the start of the text is 0, and a byte order mark does not count. Each sequence of bytes that is ' +
    'not UTF-8 is read as one U+FFFD.',
  example: 'pegwire find accp transcript.md',
  run: async (invocation) => {
    const { protocol, output, json, options } = invocation;
    const reading = { dialect: options.dialect, spans: options.spans, limits: givenLimits(options) };
    const { text, isUtf8 } = await readAll(invocation);
    if (!isUtf8) {
      const notice = `${inputName(invocation)} contains bytes that are not UTF-8; each sequence of them is read as U+FFFD`;
      await output.note(json ? toJson({ notice }) : labelled('warning', 'not-utf8', `${notice}.`, output.paintNote));
    }
    const found = READERS[protocol.name].find(text, reading);
    const lineAt = lineFinder(text);
    for (const item of found) {
      if (json) {
        await output.result(toJson(foundRecord(item)));
        continue;
      }
      // The text may contain control characters.
      const shown = visible(item.decoded ?? item.text);
      await output.result(`${item.start}-${item.end}\t${item.ok ? 'ok' : item.error.code}\t${shown}`);
      if (!item.ok) await output.note(`${problem(item, lineAt(item.start), invocation)}\n`);
    }
    const invalid = found.filter(({ ok }) => !ok).length;
    if (!json) await output.note(`${found.length} found, ${invalid} invalid`);
    return invalid > 0 ? 1 : 0;
  },
});

/** The longest line that is printed with an error. */
const MAX_LINE = 10_000;

/** Formats an error with its line; with the message alone if the line is too long, or contains the message in escaped form. */
function problem(item: Invalid, line: ReturnType<ReturnType<typeof lineFinder>>, invocation: Reporting): string {
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

/** Returns a function that finds the line of an offset; offsets must ascend. */
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
