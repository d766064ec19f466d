import type { ParseError, PrintError } from '../../text/errors.js';
import { visible } from '../../text/visible.js';
import { UsageError } from '../io/errors.js';
import { readText, replaceText } from '../io/files.js';
import { checkEachInput, type FindingWriter } from '../io/findings.js';
import { inputName, type Line, linesIn, readLines } from '../io/input.js';
import { forEachInput } from '../io/inputs.js';
import { toJson } from '../io/json.js';
import { forEachMessage, READERS, type Reading } from '../io/messages.js';
import { placeOf } from '../io/report.js';
import { whileWatching } from '../io/watch.js';
import { defineCommand, type Invocation } from '../options/command.js';
import { dialect, flag } from '../options/option.js';
import { FILES, FORMAT, givenLimits, LIMIT_OPTIONS, WATCH } from '../options/shared.js';

const OPTIONS = {
  dialect: dialect('Grammar dialect: strict (default), lenient (accp) or tolerant (aacp)'),
  check: flag('List the lines that are not in canonical form, and exit with 1 if there are any'),
  write: flag(
    'Rewrite the files in canonical form, and list those that change; a file with an invalid message stays as it is',
  ),
  'sort-params': flag('Sort the payload parameters too, as hashes require (accp)'),
  format: FORMAT,
  watch: WATCH,
  ...LIMIT_OPTIONS,
};

type Run = Invocation<typeof OPTIONS>;

export const command = defineCommand({
  takes: 'files',
  details: `${FILES} Comments and blank lines are kept, except blank lines at the start and the end. An invalid line is reported, and is not in the output.`,
  options: OPTIONS,
  example: ["echo '@a>req:x{m:{b:1.50,a:007}}' | pegwire fmt accp", 'pegwire fmt accp examples --write'],
  run: async (invocation) => {
    const { protocol, options } = invocation;
    const { check, write, format, watch, 'sort-params': sortParams } = options;
    if (sortParams && protocol.name !== 'accp')
      throw new UsageError('--sort-params applies to accp; the fields of packets always have one order');
    if (check && write) throw new UsageError('--check and --write exclude each other');
    if (format !== 'text' && !check) throw new UsageError('--format requires --check');
    const reading = { dialect: options.dialect, sortParams, limits: givenLimits(options) };
    if (watch && (format !== 'text' || !(check || write)))
      throw new UsageError('--watch requires --check or --write, and the format text');
    const once = (own: Run): Promise<number> => {
      if (write) return forEachInput(own, (one) => rewrite(one, reading));
      if (check) return checkEachInput(own, format, (one, findings) => list(one, reading, findings));
      return forEachInput(own, (one) => print(one, reading));
    };
    return watch ? whileWatching(invocation, once) : once(invocation);
  },
});

async function print(invocation: Run, reading: Reading): Promise<number> {
  const { output, json } = invocation;
  const { line: write, other } = keepingBlankLines((text) => output.result(text));
  return forEachMessage(
    invocation,
    reading,
    async (node, line) => {
      const canonical = READERS[invocation.protocol.name].format(node, reading);
      const changed = canonical !== line.text;
      if (json) await output.result(toJson({ ...placeOf(invocation, line), ok: true, canonical, changed }));
      else await write(canonical);
      return true;
    },
    json ? {} : { lines: readLines(invocation, true), other },
  );
}

/** Returns functions that write a message, and a blank line or comment. Blank lines at the start and the end are left out. */
function keepingBlankLines(write: (text: string) => Promise<void>) {
  let isBegun = false;
  let blanks = 0;
  const line = async (text: string): Promise<void> => {
    for (; blanks > 0; blanks--) if (isBegun) await write('');
    isBegun = true;
    await write(text);
  };
  const other = async (text: string): Promise<void> => {
    if (text.includes('#')) await line(text);
    else blanks++;
  };
  return { line, other };
}

/** A line that is not in canonical form, as a finding; and a file of which no single line is the reason. */
const NOT_CANONICAL = {
  code: 'not-canonical',
  message: 'Not in canonical form.',
  span: null,
  help: 'run pegwire fmt --write',
};
const BETWEEN_LINES = { ...NOT_CANONICAL, message: 'The blank lines or line ends are not in canonical form.' };

async function list(invocation: Run, reading: Reading, findings: FindingWriter): Promise<number> {
  const { file, output, json, options } = invocation;
  const isText = options.format === 'text';
  const name = visible(inputName(invocation));
  let isChanged = false;
  const { exitCode, before, after } = await formatted(invocation, reading, {
    lines: file === undefined ? readLines(invocation) : undefined,
    handle: async (canonical, line) => {
      const changed = canonical !== line.text;
      isChanged ||= changed;
      if (json) await output.result(toJson({ ...placeOf(invocation, line), ok: true, canonical, changed }));
      else if (changed && isText) await output.result(`${name}:${line.number}: not in canonical form`);
      else if (changed) await findings.add(invocation, line, 'error', NOT_CANONICAL);
    },
    refuse: isText ? undefined : (line, error) => findings.add(invocation, line, 'error', error),
  });
  if (exitCode !== 0 || isChanged || after === before) return isChanged ? 1 : exitCode;
  if (json) await output.result(toJson({ file, ok: true, changed: true }));
  else if (isText) await output.result(`${name}: its blank lines or line ends are not in canonical form`);
  else await findings.add(invocation, { number: 1, text: '' }, 'error', BETWEEN_LINES);
  return 1;
}

async function rewrite(invocation: Run, reading: Reading): Promise<number> {
  const { file, output, json } = invocation;
  if (file === undefined) throw new UsageError('--write requires files');
  const { exitCode, before, after } = await formatted(invocation, reading, {});
  if (exitCode !== 0) return exitCode;
  const changed = after !== before;
  if (changed) replaceText(file, before!, after!);
  if (json) await output.result(toJson({ file, changed }));
  else if (changed) await output.result(visible(file));
  return 0;
}

interface Formatting {
  /** The lines of the input. @default those of the file */
  readonly lines?: AsyncIterable<Line> | undefined;
  readonly handle?: (canonical: string, line: Line) => Promise<void>;
  readonly refuse?: ((line: Line, error: ParseError | PrintError) => Promise<void>) | undefined;
}

/** Returns the text of a file, and that in canonical form, with the line ends of its first line; no texts if the lines are given. */
async function formatted(invocation: Run, reading: Reading, { lines, handle, refuse }: Formatting) {
  const before = lines === undefined ? readText(invocation.file!) : undefined;
  const written: string[] = [];
  const { line: write, other } = keepingBlankLines(async (text) => void (before !== undefined && written.push(text)));
  const exitCode = await forEachMessage(
    invocation,
    reading,
    async (node, line) => {
      const canonical = READERS[invocation.protocol.name].format(node, reading);
      await write(canonical);
      await handle?.(canonical, line);
      return true;
    },
    { lines: lines ?? linesIn(before!), other, ...(refuse === undefined ? {} : { refuse }) },
  );
  const end = /\r?\n/.exec(before ?? '')?.[0] ?? '\n';
  return { exitCode, before, after: before && written.map((line) => line + end).join('') };
}
