import type { Report } from '../../text/diagnostic.js';
import type { ParseError } from '../../text/errors.js';
import type { Found } from '../../text/prose.js';
import { visible } from '../../text/visible.js';
import { checkEachInput, type FindingWriter } from '../io/findings.js';
import { inputName, type Line, readAll, withoutReturn } from '../io/input.js';
import { foundRecord, toJson } from '../io/json.js';
import { READERS } from '../io/messages.js';
import { labelled } from '../io/output.js';
import { type Reporting, reporting, reportText } from '../io/report.js';
import { defineCommand, type Invocation } from '../options/command.js';
import { dialect, flag } from '../options/option.js';
import { FORMAT, givenLimits, LIMIT_OPTIONS } from '../options/shared.js';

type Invalid = Found<unknown, ParseError> & { readonly ok: false };

const OPTIONS = {
  dialect: dialect('Grammar dialect: strict (default), lenient (accp) or tolerant (aacp)'),
  spans: flag('With --json: include the start and end offset of every node'),
  format: FORMAT,
  ...LIMIT_OPTIONS,
};

type Run = Invocation<typeof OPTIONS>;

export const command = defineCommand({
  takes: 'files',
  options: OPTIONS,
  details:
    'A folder stands for the files in it that may contain texts: Markdown, JSON, logs, sources of programs, and others. ' +
    'Prints the start and end offset, ok or the error code, and the text of each message, separated by tabs; of several files, the name ' +
    'comes first. Offsets are UTF-16 code ' +
    'units, as in JavaScript strings; the start of the text is 0, and a byte order mark does not count. Each sequence of bytes that is ' +
    'not UTF-8 is read as one U+FFFD.',
  example: ['pegwire find accp transcript.md', "pegwire find accp 'docs/**/*.md' --format github"],
  run: async (invocation) => {
    const { format } = invocation.options;
    return checkEachInput({ ...invocation, isAnyText: true }, format, (one, findings) =>
      findIn(one, format === 'text' ? null : findings),
    );
  },
});

/** Prints the messages of one input. @param findings reports the invalid ones, if messages are not printed */
async function findIn(invocation: Run, findings: FindingWriter | null): Promise<number> {
  const { protocol, output, json, options, isNamed, isOneOfMany } = invocation;
  const name = inputName(invocation);
  const reading = { dialect: options.dialect, spans: options.spans, limits: givenLimits(options) };
  const { text, isUtf8 } = await readAll(invocation);
  if (!isUtf8) {
    const notice = `${name} contains bytes that are not UTF-8; each sequence of them is read as U+FFFD`;
    await output.note(json ? toJson({ notice }) : labelled('warning', 'not-utf8', `${notice}.`, output.paintNote));
  }
  const found = READERS[protocol.name].find(text, reading);
  const lineAt = lineFinder(text);
  for (const item of found) {
    const place = lineAt(item.start);
    if (json) await output.result(toJson({ ...(isNamed ? { file: name } : {}), ...foundRecord(item) }));
    else if (findings !== null) {
      if (!item.ok) await findings.add(invocation, place, 'error', reportIn(item, place));
    } else {
      // The text may contain control characters.
      const shown = visible(item.decoded ?? item.text);
      const prefix = isOneOfMany ? `${name}\t` : '';
      await output.result(`${prefix}${item.start}-${item.end}\t${item.ok ? 'ok' : item.error.code}\t${shown}`);
      if (!item.ok) await output.note(`${problem(item, place, invocation)}\n`);
    }
  }
  const invalid = found.filter(({ ok }) => !ok).length;
  if (!json) await output.note(`${found.length} found, ${invalid} invalid`);
  return invalid > 0 ? 1 : 0;
}

/** The longest line that is printed with an error. */
const MAX_LINE = 10_000;

/** Formats an error with its line; with the message alone if the line is too long, or contains the message in escaped form. */
function problem(item: Invalid, line: PlacedLine, invocation: Reporting): string {
  const { start, error } = item;
  if (item.decoded !== undefined || line.text.length > MAX_LINE || error.span === null) {
    return reportText(
      error,
      'error',
      { number: 1, text: item.decoded ?? item.text },
      { ...reporting(invocation), name: `${inputName(invocation)}@${start}` },
    );
  }
  return reportText(reportIn(item, line), 'error', line, reporting(invocation));
}

/** Returns the error with its place in the line; the place of the whole message if it is in escaped form. */
function reportIn({ start, end, decoded, error }: Invalid, { offset }: PlacedLine): Report {
  const { code, message, help, span } = error;
  const shift = start - offset;
  const own = decoded === undefined && span !== null ? span : { start: 0, end: end - start };
  return { code, message, span: { start: own.start + shift, end: own.end + shift }, help };
}

interface PlacedLine extends Line {
  readonly offset: number;
}

/** Returns a function that finds the line of an offset; offsets must ascend. */
function lineFinder(text: string): (offset: number) => PlacedLine {
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
