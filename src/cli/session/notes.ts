/** Notes about the work of a session. */
import type { Loss } from '../../accp/message/message.js';
import type { CheckpointResult } from '../../accp/state/state.js';
import type { Diagnostic } from '../../text/diagnostic.js';
import type { Line } from '../io/input.js';
import { noteLine, type Reporting } from '../io/report.js';

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

/** Limits of section 3.4, which most frames with envelopes exceed: counted, not shown. */
const LIMIT_WARNING = /^over-(?:soft|hard)-limit$/;

export function isOverHardLimit({ warnings }: Pick<Noteworthy, 'warnings'>): boolean {
  return warnings.some(({ code }) => code === 'over-hard-limit');
}

export function lossText({ path, kind, from, to }: Loss): string {
  return `${path} ${LOSSES[kind]}: ${from} is now ${to}`;
}

export async function noteResults(invocation: Reporting, line: Line, results: Noteworthy): Promise<void> {
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
