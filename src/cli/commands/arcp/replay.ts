import { setTimeout as sleep } from 'node:timers/promises';
import { isFromClient, type ReplayStep, replayLog } from '../../../arcp/conformance/index.js';
import { type Envelope, parseTimestamp } from '../../../arcp/index.js';
import { visible } from '../../../text/visible.js';
import { UsageError } from '../../io/errors.js';
import { toJson } from '../../io/json.js';
import type { Output, Style } from '../../io/output.js';
import { defineCommand, type Invocation } from '../../options/command.js';
import { amount, duration, value } from '../../options/option.js';
import { lineOf, showMessage } from './lines.js';
import { readMessages } from './logs.js';
import { bearer, namedTarget, TARGET_OPTIONS, TARGETS, withTarget } from './targets.js';

const OPTIONS = {
  speed: value(
    'FACTOR',
    'Print this many times faster than recorded (default: 1); 0 for no pauses',
    amount('a non-negative number'),
  ),
  timeout: value(
    'DURATION',
    'Wait this long for each message of the target (default: 5s)',
    duration({ isPositive: true }),
  ),
  ...TARGET_OPTIONS,
};

type Run = Invocation<typeof OPTIONS>;

export const command = defineCommand({
  takes: { words: 'FILE [TARGET] | FILE -- CMD [ARG...]' },
  options: OPTIONS,
  details: [
    `FILE is a log with one message per line, in the order in which both sides sent them. ${TARGETS}`,
    'Without a target, prints the messages at their original pace, with pauses of at most two seconds. With a target, sends the messages ' +
      'of the client again, repeats its permission decisions, and compares the messages of the runtime with the log, except for ' +
      'identifiers and times. The exit code is 1 if a message differs, is missing or is new. A runtime runs a call with an operation ' +
      'key only once, so replaying one does not repeat it.',
  ],
  example: ['pegwire arcp replay log.jsonl --speed 10', 'pegwire arcp replay log.jsonl ws://127.0.0.1:7777/arcp'],
  run,
});

/** The longest pause, in milliseconds. */
const MAX_PAUSE = 2000;

async function run(invocation: Run): Promise<number> {
  const [file, ...rest] = invocation.words;
  if (file === undefined || (invocation.program.length > 0 && invocation.words.length === invocation.program.length))
    throw new UsageError('arcp replay requires a log: pegwire arcp replay FILE [TARGET]');
  const { messages, fault } = await readMessages({ ...invocation, file });
  if (rest.length === 0) {
    await show(invocation, messages);
    if (fault === undefined) return 0;
  }
  // An incomplete conversation is not sent to a runtime.
  if (fault !== undefined) throw fault;
  return compare({ ...invocation, words: rest }, messages);
}

async function show(invocation: Run, log: readonly Envelope[]): Promise<void> {
  const { speed = 1 } = invocation.options;
  let before: number | undefined;
  for (const message of log) {
    const moment = parseTimestamp(message.timestamp);
    const pause = before === undefined || speed === 0 ? 0 : (moment - before) / speed;
    before = moment;
    if (pause > 0) await sleep(Math.min(pause, MAX_PAUSE));
    await showMessage(invocation, message);
  }
}

async function compare(invocation: Run, log: readonly Envelope[]): Promise<number> {
  const { json, output } = invocation;
  const { target, dial, words, token } = namedTarget(invocation);
  if (words.length > 0) throw new UsageError(`arcp replay takes a log and one target; remove "${words[0]}"`);
  if (!log.some(isFromClient)) throw new UsageError('The log contains no message of a client');
  const { timeout } = invocation.options;
  const auth = bearer(token);
  const steps = replayLog(dial, log, {
    ...(auth === undefined ? {} : { auth }),
    ...(timeout === undefined ? {} : { timeoutMs: timeout }),
  });
  const counts = new Map<ReplayStep['kind'], number>();
  for await (const step of withTarget(steps, target)) {
    counts.set(step.kind, (counts.get(step.kind) ?? 0) + 1);
    await output.result(json ? toJson(step) : lineOfStep(step, output));
  }
  const count = (kind: ReplayStep['kind']): number => counts.get(kind) ?? 0;
  const differences = count('different') + count('missing') + count('new');
  if (!json)
    await output.note(
      `${count('sent')} sent, ${count('same')} identical, ${count('different')} different, ${count('missing')} missing, ${count('new')} new`,
    );
  return differences === 0 ? 0 : 1;
}

const MARKS: Readonly<Record<ReplayStep['kind'], readonly [mark: string, style: Style]>> = {
  sent: ['>', 'bold'],
  same: ['=', 'green'],
  different: ['≠', 'red'],
  missing: ['-', 'red'],
  new: ['+', 'yellow'],
};

function lineOfStep(step: ReplayStep, output: Output): string {
  const [mark, style] = MARKS[step.kind];
  const message = 'message' in step ? step.message : step.recorded;
  const line = lineOf(message, output.paint) ?? message.type;
  const reason = 'reason' in step && step.reason !== undefined ? `\n    ${visible(step.reason)}` : '';
  return `${output.paint(style, mark)} ${line}${reason}`;
}
