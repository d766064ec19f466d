/** Messages as lines of text. */
import { ArcpError, type Envelope, summaryOf, type Tone } from '../../../arcp/index.js';
import { visible } from '../../../text/visible.js';
import { errorJson, toJson } from '../../io/json.js';
import { labelled, type Paint, type Style } from '../../io/output.js';
import type { Invocation } from '../../options/command.js';

const STYLES: Readonly<Record<Tone, Style>> = {
  start: 'bold',
  call: 'magenta',
  progress: 'cyan',
  checkpoint: 'blue',
  success: 'green',
  warning: 'yellow',
  failure: 'red',
  detail: 'dim',
};

/** Prints a message to stdout. */
export async function showMessage(
  { json, output }: Pick<Invocation, 'json' | 'output'>,
  message: Envelope,
): Promise<void> {
  const line = json ? toJson(message) : lineOf(message, output.paint);
  if (line !== undefined) await output.result(line);
}

/** Formats a message. @returns `undefined` for messages that only maintain the connection */
export function lineOf(message: Envelope, paint: Paint): string | undefined {
  const summary = summaryOf(message);
  if (summary === undefined) return undefined;
  const [tone, what, more = ''] = summary;
  const style = STYLES[tone];
  const time = paint('dim', message.timestamp.replace(/^.*T/, '').replace(/(\.\d{3})\d*/, '$1'));
  return `${time} ${paint(style, visible(what))}${more === '' ? '' : ` ${visible(more)}`}`;
}

/** Reports why work failed. */
export async function noteFailure(
  { json, output }: Pick<Invocation, 'json' | 'output'>,
  thrown: unknown,
): Promise<void> {
  const { code, message } = thrown instanceof ArcpError ? thrown : new ArcpError('UNKNOWN', String(thrown));
  await output.note(json ? errorJson(code, message) : labelled('error', code, visible(message), output.paintNote));
}
