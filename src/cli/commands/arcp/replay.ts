/** The work of `pegwire arcp replay`. */
import { setTimeout as sleep } from 'node:timers/promises';
import { dialOf } from '../../../arcp/client/index.js';
import { isOfClient, type ReplayStep, replayLog } from '../../../arcp/conformance/index.js';
import { type Envelope, momentOf } from '../../../arcp/index.js';
import { visible } from '../../../text/visible.js';
import { toJson } from '../../io/json.js';
import type { Output, Style } from '../../io/output.js';
import { type Invocation, UsageError } from '../../options/command.js';
import { numberOption, secondsOption } from '../../options/option.js';
import { lineOf } from './lines.js';
import { readMessages } from './logs.js';
import { namedTarget, unreachable } from './targets.js';

/** Milliseconds of the longest pause. */
const LONGEST = 2000;

/** @returns the exit code: 1 where the runtime does not say what it said */
export async function runReplay(invocation: Invocation): Promise<number> {
  const [file, ...rest] = invocation.words;
  if (file === undefined || (invocation.program.length > 0 && invocation.words.length === invocation.program.length))
    throw new UsageError('arcp replay needs a log: pegwire arcp replay FILE [TARGET]');
  const { messages, fault } = await readMessages({ ...invocation, file });
  if (rest.length === 0) {
    await tell(invocation, messages);
    if (fault === undefined) return 0;
  }
  // A runtime is not told half of a conversation.
  if (fault !== undefined) throw fault;
  return hold({ ...invocation, words: rest }, messages);
}

/** The messages, at the pace at which they were said. */
async function tell(invocation: Invocation, log: readonly Envelope[]): Promise<void> {
  const { output, json } = invocation;
  const speed = numberOption(invocation, 'speed') ?? 1;
  let before: number | undefined;
  for (const message of log) {
    const moment = momentOf(message.timestamp);
    const pause = before === undefined || speed === 0 ? 0 : (moment - before) / speed;
    before = moment;
    if (pause > 0) await sleep(Math.min(pause, LONGEST));
    const line = json ? toJson(message) : lineOf(message, output.paint);
    if (line !== undefined) await output.result(line);
  }
}

async function hold(invocation: Invocation, log: readonly Envelope[]): Promise<number> {
  const { json, output } = invocation;
  const { target, words, token } = namedTarget(invocation);
  if (words.length > 0) throw new UsageError(`arcp replay takes a log and a runtime, not "${words[0]}" as well`);
  if (!log.some(isOfClient)) throw new UsageError('Nothing in the log was said by a client');
  const timeout = secondsOption(invocation, 'timeout');
  const steps = replayLog(dialOf(target, { token }), log, {
    ...(token === undefined ? {} : { auth: { scheme: 'bearer', token } }),
    ...(timeout === undefined ? {} : { timeoutMs: timeout * 1000 }),
  });
  const counts = new Map<ReplayStep['kind'], number>();
  for (;;) {
    const next = await steps.next().catch((thrown) => {
      throw unreachable(thrown, target);
    });
    if (next.done === true) break;
    const step = next.value;
    counts.set(step.kind, (counts.get(step.kind) ?? 0) + 1);
    await output.result(json ? toJson(step) : lineOfStep(step, output));
  }
  const count = (kind: ReplayStep['kind']): number => counts.get(kind) ?? 0;
  const odd = count('different') + count('missing') + count('new');
  if (!json)
    await output.note(
      `${count('sent')} sent, ${count('same')} the same, ${count('different')} different, ${count('missing')} missing, ${count('new')} new`,
    );
  return odd === 0 ? 0 : 1;
}

const MARKS: Readonly<Record<ReplayStep['kind'], readonly [mark: string, style: Style]>> = {
  ...{
    sent: ['>', 'bold'],
    same: ['=', 'green'],
    different: ['≠', 'red'],
    missing: ['-', 'red'],
    new: ['+', 'yellow'],
  },
};

function lineOfStep(step: ReplayStep, output: Output): string {
  const [mark, style] = MARKS[step.kind];
  const message = 'message' in step ? step.message : step.recorded;
  const line = lineOf(message, output.paint) ?? message.type;
  const reason = 'reason' in step && step.reason !== undefined ? `\n    ${visible(step.reason)}` : '';
  return `${output.paint(style, mark)} ${line}${reason}`;
}
