/** What is said about a request that came to nothing. */
import { PegwireError } from '../../text/errors.js';
import { visible } from '../../text/visible.js';
import type { Line } from '../io/input.js';
import { toJson } from '../io/json.js';
import { refuse } from '../io/report.js';
import type { Invocation } from '../options/command.js';

/** @param line where the request stands; `null` when the arguments made it */
export async function refuseRequest(invocation: Invocation, line: Line | null, error: PegwireError): Promise<void> {
  const { json, output } = invocation;
  if (line !== null) return refuse(invocation, line, error);
  if (json) return output.result(toJson({ ok: false, error }));
  const { code, message, help } = error;
  const head = output.paintNote(['red', 'bold'], `error[${code}]`);
  await output.note(`${head}: ${visible(message)}`);
  if (help !== undefined) await output.note(`${output.paintNote('cyan', 'help:')} ${visible(help)}`);
}

/** Tells that what was asked for is not there: with `--json` as any other error, otherwise in a sentence. */
export async function tellNothing(invocation: Invocation, code: string, message: string): Promise<void> {
  if (invocation.json) return refuseRequest(invocation, null, new PegwireError({ code, message }));
  await invocation.output.note(visible(message));
}

/** Something for people about a request, with its line where it has one. */
export async function noteRequest(invocation: Invocation, line: Line | null, text: string): Promise<void> {
  const { file, output } = invocation;
  const place = line === null ? '' : `${output.paintNote('dim', `${file ?? 'stdin'}:${line.number}:`)} `;
  await output.note(`${place}${visible(text)}`);
}
