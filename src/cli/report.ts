/** Findings and errors for people: severity in colour, then the caret frame. */
import { formatReport, type Report, type Severity } from '../text/diagnostic.js';
import type { PegwireError } from '../text/errors.js';
import { inputName, type Line } from './input.js';
import { toJson } from './json.js';
import type { Output } from './output.js';
import type { Invocation } from './usage.js';

type Paint = Output['paint'];

/** A finding about a line of the input. */
export function reportText(report: Report, severity: Severity, line: Line, name: string, paint: Paint): string {
  return colored(formatReport(report, severity, line.text, { name, line: line.number }), severity, paint);
}

/** Tells that a line was refused: with `--json` as a result, otherwise on stderr. */
export async function refuse(invocation: Invocation, line: Line, error: PegwireError): Promise<void> {
  const { json, output } = invocation;
  if (json) await output.result(toJson({ line: line.number, ok: false, error }));
  else await output.note(`${reportText(error, 'error', line, inputName(invocation), output.paintNote)}\n`);
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
