/** Findings and errors for people: severity in colour, then the caret frame. */
import { formatReport, type Report, type Severity } from '../../text/diagnostic.js';
import type { PegwireError } from '../../text/errors.js';
import type { Invocation, Options } from '../options/command.js';
import { commandHelpOf } from '../options/limits.js';
import { inputName, type Line } from './input.js';
import { errorJson, toJson } from './json.js';
import { jsonPlaceOf } from './json-place.js';
import type { Output } from './output.js';

type Paint = Output['paint'];

/** Options for showing a report. */
export interface Reporting {
  /** The name of the text that it is about. */
  readonly name: string;
  readonly paint: Paint;
  /** The options of the command, which its help may name. */
  readonly known: Options;
}

/** Shows reports about the input on stderr. */
export function reporting(invocation: Invocation): Reporting {
  return { name: inputName(invocation), paint: invocation.output.paintNote, known: invocation.known };
}

/** A finding about a line of the input. */
export function reportText(report: Report, severity: Severity, line: Line, { name, paint, known }: Reporting): string {
  const { code, message } = report;
  const help = commandHelpOf(report.help, known);
  // What is wrong with a tree has no place in the text: then it is the whole line.
  const span = report.span ?? { start: 0, end: line.text.length };
  const text = formatReport({ code, message, span, help }, severity, line.text, { name, line: line.number });
  return colored(text, severity, paint);
}

/** Tells that a line was refused: with `--json` as a result, otherwise on stderr. */
export async function refuse(invocation: Invocation, line: Line, error: PegwireError): Promise<void> {
  const { json, output } = invocation;
  if (json) {
    const help = commandHelpOf(error.help, invocation.known);
    const { help: _, ...told } = error.toJSON();
    await output.result(toJson({ line: line.number, ok: false, error: help === undefined ? told : { ...told, help } }));
    return;
  }
  const { code, message, help } = error;
  const span = error.span ?? jsonPlaceOf((error as { readonly path?: string }).path, line.text);
  await output.note(`${reportText({ code, message, help, span }, 'error', line, reporting(invocation))}\n`);
}

/** Tells that there was not one message in the input. */
export async function tellEmpty({ json, output, protocol }: Invocation): Promise<void> {
  const message = `The input is empty: it holds no ${protocol.message}`;
  await output.note(json ? errorJson('empty', message) : `${message}.`);
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
