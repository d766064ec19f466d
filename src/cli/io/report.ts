/** Reports about lines of the input, as text or JSON. */
import { formatReport, type Report, type Severity } from '../../text/diagnostic.js';
import { PegwireError } from '../../text/errors.js';
import { visible } from '../../text/visible.js';
import type { TokenCounter } from '../../tokens/counter.js';
import type { UsageError } from './errors.js';
import { inputName, type Line, readLines, type Source } from './input.js';
import { errorJson, toJson } from './json.js';
import { jsonPlaceOf } from './json-place.js';
import { labelled, type Output, type Paint } from './output.js';

export interface Reporting {
  readonly file: string | undefined;
  /** `true` if records of JSON have the name of the file, as in all commands that take several files. */
  readonly isNamed?: boolean;
  /** `true` for one of several inputs, which may be empty. */
  readonly isOneOfMany?: boolean;
  readonly json: boolean;
  readonly output: Output;
  /** The options of the command; help names only these. */
  readonly known: object;
}

export interface ReportStyle {
  readonly name: string;
  readonly paint: Paint;
  readonly known: object;
}

/** Returns the style of reports on stderr. */
export function reporting({ file, output, known }: Reporting): ReportStyle {
  return { name: inputName({ file }), paint: output.paintNote, known };
}

/** Formats an error or warning with its line and a caret. */
export function reportText(
  report: Report,
  severity: Severity,
  line: Line,
  { name, paint, known }: ReportStyle,
): string {
  const { code, message } = report;
  const help = commandHelpOf(report.help, known);
  // Errors about trees have no span; they point to the whole line.
  const span = report.span ?? { start: 0, end: line.text.length };
  const text = formatReport({ code, message, span, help }, severity, line.text, { name, line: line.number });
  return colored(text, severity, paint);
}

/** Reports an error about a line. @param line `null` for a request from the arguments */
export async function reject(reporter: Reporting, line: Line | null, error: PegwireError): Promise<void> {
  const { json, output, known } = reporter;
  const { code, message, help } = error;
  if (line === null) {
    if (json) return output.result(toJson({ ok: false, error }));
    await output.note(labelled('error', code, visible(message), output.paintNote));
    if (help !== undefined) await output.note(`${output.paintNote('cyan', 'help:')} ${visible(help)}`);
    return;
  }
  if (json) {
    const ownHelp = commandHelpOf(help, known);
    const { help: _, ...data } = error.toJSON();
    const withHelp = ownHelp === undefined ? data : { ...data, help: ownHelp };
    return output.result(toJson({ ...placeOf(reporter, line), ok: false, error: withHelp }));
  }
  const span = error.span ?? jsonPlaceOf((error as { readonly path?: string }).path, line.text);
  await output.note(`${reportText({ code, message, help, span }, 'error', line, reporting(reporter))}\n`);
}

/** Returns the place of a line, for a record of JSON. */
export function placeOf({ file, isNamed = false }: Pick<Reporting, 'file' | 'isNamed'>, { number }: Line): object {
  return isNamed ? { file, line: number } : { line: number };
}

/** Reports an error that ends a command, or the reading of one of several files. */
export async function noteFault(
  { json, output }: Pick<Reporting, 'json' | 'output'>,
  fault: UsageError,
): Promise<void> {
  const { code, message, below, help } = fault;
  if (json) return output.note(errorJson(code, below === undefined ? message : `${message}\n${below}`, help));
  // The message quotes arguments, which may contain control characters.
  const shown = visible(/[?:]$/.test(message) ? message : `${message}.`);
  const text = [shown, ...(below === undefined ? [] : below.split('\n').map(visible))].join('\n');
  await output.note(labelled('error', code, text, output.paintNote));
  if (help !== undefined) await output.note(`${output.paintNote('cyan', 'help:')} ${visible(help)}`);
}

/** Writes a note about a line. With --json it writes nothing, since the results contain it. @param line `null` for a request from the arguments */
export async function noteLine(reporter: Reporting, line: Line | null, text: string): Promise<void> {
  const { json, output } = reporter;
  if (json) return;
  const place = line === null ? '' : `${output.paintNote('dim', `${inputName(reporter)}:${line.number}:`)} `;
  await output.note(`${place}${visible(text)}`);
}

/**
 * Handles each line, and reports an empty input.
 *
 * @param noun the content of a line: `frame`
 * @param handle handles a line; resolves to `true` if it is accepted
 * @param all the lines of the input
 */
export async function forEachLine(
  source: Source & Pick<Reporting, 'json' | 'output' | 'isOneOfMany'>,
  noun: string,
  handle: (line: Line) => Promise<boolean>,
  all: AsyncIterable<Line> = readLines(source),
) {
  let lines = 0;
  let rejected = 0;
  for await (const line of all) {
    lines++;
    if (!(await handle(line))) rejected++;
  }
  const isMissing = lines === 0 && source.isOneOfMany !== true;
  if (isMissing) await noteEmpty(source, noun);
  return { lines, rejected, exitCode: isMissing || rejected > 0 ? 1 : 0 };
}

/** Reports an empty input. @param noun the missing content: `frame` */
export async function noteEmpty({ json, output }: Pick<Reporting, 'json' | 'output'>, noun: string): Promise<void> {
  const message = `The input is empty; expected at least one ${noun}`;
  await output.note(json ? errorJson('empty', message) : labelled('error', 'empty', `${message}.`, output.paintNote));
}

/** Reports that a search found nothing. */
export function noteNothing(reporter: Reporting, code: string, message: string): Promise<void> {
  return reject(reporter, null, new PegwireError({ code, message }));
}

/** Returns how tokens were counted. @param isToonMissing `true` if the package for TOON is not installed */
export function countedText(
  { exact, encoding }: Pick<TokenCounter, 'exact' | 'encoding'>,
  isToonMissing = false,
): string {
  const counted = exact ? `Counted in ${encoding}` : 'Estimated (for exact counts: npm install gpt-tokenizer)';
  return `${counted}${isToonMissing ? '; TOON is not counted (npm install @toon-format/toon)' : ''}.`;
}

/** Formats a number with its noun: `1 frame`, `3 frames`. */
export function count(number: number, noun: string, nouns = `${noun}s`): string {
  return `${number} ${number === 1 ? noun : nouns}`;
}

const TRANSLITERATE = /text: "transliterate"(?: and announce it with codec\.announce\(session\))?/;
const OR_TRANSLITERATE = new RegExp(`, or (?:use )?${TRANSLITERATE.source}`);

/** Rewrites help that names an option of the library, for the command; `undefined` if the command has no such option. */
export function commandHelpOf(help: string | undefined, known: object): string | undefined {
  if (help === undefined) return undefined;
  const [, limit] = /^raise (max[A-Z][A-Za-z]*)/.exec(help) ?? [];
  if (limit !== undefined) {
    const option = limit.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
    return Object.hasOwn(known, option) ? help.replace(limit, `--${option}`) : undefined;
  }
  const own = help.replace(/the frames of codec\.announce\(session\)/, 'a sync:registry frame');
  if (Object.hasOwn(known, 'text')) return own.replace(TRANSLITERATE, '--text transliterate');
  return own.replace(OR_TRANSLITERATE, '').replace(TRANSLITERATE, 'letters, digits and "_"');
}

function colored(report: string, severity: Severity, paint: Paint): string {
  const color = severity === 'error' ? 'red' : 'yellow';
  return report
    .split('\n')
    .map((text, index) => {
      if (index === 0) {
        const end = text.indexOf(']') + 1;
        return paint([color, 'bold'], text.slice(0, end)) + paint('bold', text.slice(end));
      }
      if (text.startsWith('help: ')) return paint('cyan', 'help:') + text.slice(5);
      return /^ *\| *\^+$/.test(text) ? paint(color, text) : text;
    })
    .join('\n');
}
