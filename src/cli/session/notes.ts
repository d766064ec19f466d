/** What happened in a session besides the results, for people: on stderr, with the line that it is about. */
import type { Loss } from '../../accp/message/message.js';
import type { CheckpointResult } from '../../accp/state/state.js';
import type { Diagnostic } from '../../text/diagnostic.js';
import { visible } from '../../text/visible.js';
import { inputName, type Line } from '../io/input.js';
import type { Invocation } from '../options/command.js';

/** What is told of each loss. */
const LOSSES: Readonly<Record<Loss['kind'], string>> = {
  rounded: 'was rounded to six places',
  'negative-zero': 'has lost its sign',
  narrowed: 'has become a plain number',
  precision: 'has more digits than are kept',
  renamed: 'comes back under its full name',
};

export interface Noteworthy {
  readonly losses: readonly Loss[];
  readonly warnings: readonly Diagnostic[];
  readonly checkpoint?: CheckpointResult | Promise<CheckpointResult> | undefined;
}

/** One thing about a line. */
export async function noteLine(invocation: Invocation, { number }: Line, text: string): Promise<void> {
  const { json, output } = invocation;
  // Then all of it stands in the results.
  if (json) return;
  await output.note(`${output.paintNote('dim', `${inputName(invocation)}:${number}:`)} ${visible(text)}`);
}

/** Warnings about the limits of section 3.4, which most frames with their envelopes exceed: they are counted, not told. */
const LIMIT_WARNING = /^over-(?:soft|hard)-limit$/;

/** Whether a message has a frame that is over a hard limit. */
export function isOverHardLimit({ warnings }: Pick<Noteworthy, 'warnings'>): boolean {
  return warnings.some(({ code }) => code === 'over-hard-limit');
}

export function lossText({ path, kind, from, to }: Loss): string {
  return `${path} ${LOSSES[kind]}: ${from} is now ${to}`;
}

/** Losses, warnings but those about limits, and checkpoints. */
export async function noteResults(invocation: Invocation, line: Line, results: Noteworthy): Promise<void> {
  const { losses, warnings, checkpoint } = results;
  for (const loss of losses) await noteLine(invocation, line, lossText(loss));
  for (const { code, message } of warnings) {
    if (!LIMIT_WARNING.test(code)) await noteLine(invocation, line, `warning[${code}]: ${message}`);
  }
  if (checkpoint !== undefined) await noteLine(invocation, line, checkpointText(await checkpoint));
}

function checkpointText({ id, trigger, tokensBefore, tokensAfter, exact, summary }: CheckpointResult): string {
  const about = exact ? '' : 'about ';
  return `checkpoint ${id} (${trigger}): ${about}${tokensBefore} tokens became ${tokensAfter}: ${summary}`;
}

/** `1 frame`, `3 frames`. */
export function count(number: number, noun: string, nouns = `${noun}s`): string {
  return `${number} ${number === 1 ? noun : nouns}`;
}
