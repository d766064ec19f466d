import { dialOf } from '../../../arcp/client/index.js';
import {
  type Call,
  type CheckOutcome,
  type CheckResult,
  type CheckTarget,
  checkRuntime,
} from '../../../arcp/conformance/index.js';
import { visible } from '../../../text/visible.js';
import { UsageError } from '../../io/errors.js';
import { toJson } from '../../io/json.js';
import type { Style } from '../../io/output.js';
import { defineCommand, type Invocation } from '../../options/command.js';
import { duration, text, value } from '../../options/option.js';
import { argumentsOf, bearer, namedTarget, reaching, TARGET_OPTIONS, TARGETS } from './targets.js';

const OPTIONS = {
  tool: value('NAME [JSON]', 'a tool that ends at once, which is called several times', call),
  job: value('NAME [JSON]', 'one that becomes a job and goes on for a second or more; it is cancelled', call),
  'other-token': text('TEXT', 'of somebody else, who must not get at what is not theirs'),
  timeout: value('DURATION', 'Wait this long for each answer (default: 5s).', duration({ isPositive: true })),
  ...TARGET_OPTIONS,
};

type Run = Invocation<typeof OPTIONS>;

export const command = defineCommand({
  takes: { words: 'TARGET | -- CMD [ARG...]' },
  options: OPTIONS,
  details: [
    `${TARGETS} Nothing is called but what --tool and --job name; without them, what needs one is skipped.`,
    'Each line is a check with the numbers of its requirements, which conformance/requirements/arcp.json lists; where one has failed, what ' +
      'was said follows. The exit code is 1 where the runtime is not as it must be; "warned" is what should be otherwise.',
  ],
  example: [
    'pegwire arcp conformance ws://127.0.0.1:7777/arcp --tool echo --job \'count {"to":1000}\'',
    'pegwire arcp conformance --tool echo -- my-runtime --stdio',
  ],
  run,
});

/** Reads a tool, with its arguments as JSON behind it. @throws UsageError */
function call(given: string, name: string): Call {
  const [, tool, json] = /^(\S+)(?:\s+(.*))?$/s.exec(given) ?? [];
  if (tool === undefined)
    throw new UsageError(`--${name} is the name of a tool, with JSON behind it where it takes some`);
  return json === undefined ? { tool } : { tool, arguments: argumentsOf(json) };
}

const STYLES: Readonly<Record<CheckOutcome, Style>> = {
  passed: 'green',
  failed: 'red',
  warned: 'yellow',
  skipped: 'dim',
};

async function run(invocation: Run): Promise<number> {
  const { json, output, program, options } = invocation;
  const { target, words, token: secret } = namedTarget(invocation);
  if (words.length > 0) throw new UsageError(`arcp conformance takes a runtime, not "${words[0]}" as well`);
  const { timeout, tool, job, 'other-token': other } = options;
  const subject: CheckTarget = {
    dial: dialOf(target, { token: secret }),
    isShared: program.length === 0,
    auth: bearer(secret),
    otherAuth: bearer(other),
    quick: tool,
    slow: job,
    timeoutMs: timeout,
  };
  const counts: Record<CheckOutcome, number> = { passed: 0, failed: 0, warned: 0, skipped: 0 };
  for await (const result of reaching(checkRuntime(subject), target)) {
    counts[result.outcome]++;
    await output.result(json ? toJson(result) : lines(invocation, result));
  }
  const { passed, failed, warned, skipped } = counts;
  if (!json) await output.note(`${passed} passed, ${failed} failed, ${warned} warned, ${skipped} skipped`);
  return failed === 0 ? 0 : 1;
}

function lines({ output }: Run, { id, requirements, title, outcome, reason, transcript = [] }: CheckResult): string {
  const first = `${output.paint(STYLES[outcome], outcome.padEnd(7))} ${id}: ${title} (${requirements.join(', ')})`;
  const why = reason === undefined ? [] : [`        ${visible(reason)}`];
  const said = transcript.map((line) => output.paint('dim', `        ${visible(line.slice(0, 300))}`));
  return [first, ...why, ...said].join('\n');
}
