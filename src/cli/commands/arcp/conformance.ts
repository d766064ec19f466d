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
import { argumentsOf, bearer, namedTarget, TARGET_OPTIONS, TARGETS, withTarget } from './targets.js';

const OPTIONS = {
  tool: value('NAME [JSON]', 'Test with this tool, which must end at once; it is called several times', call),
  job: value(
    'NAME [JSON]',
    'Test with this tool, which must run as a job for at least a second; it is cancelled',
    call,
  ),
  'other-token': text('TOKEN', 'Token of another client, to test that it cannot access the work of the first'),
  timeout: value('DURATION', 'Wait this long for each answer (default: 5s)', duration({ isPositive: true })),
  ...TARGET_OPTIONS,
};

type Run = Invocation<typeof OPTIONS>;

export const command = defineCommand({
  takes: { words: 'TARGET | -- CMD [ARG...]' },
  options: OPTIONS,
  details: [
    `${TARGETS} Only the tools of --tool and --job are called; without them, the checks that need one are skipped.`,
    'Prints one line per check with the numbers of its requirements, which test/conformance/requirements/arcp.json describes, and the ' +
      'messages of a check that failed. The exit code is 1 if a MUST is violated; a violated SHOULD is a warning.',
  ],
  example: [
    'pegwire arcp conformance ws://127.0.0.1:7777/arcp --tool echo --job \'count {"to":1000}\'',
    'pegwire arcp conformance --tool echo -- my-runtime --stdio',
  ],
  run,
});

/** Parses the name of a tool, followed by its arguments as JSON. @throws UsageError if it is invalid */
function call(given: string, name: string): Call {
  const [, tool, json] = /^(\S+)(?:\s+(.*))?$/s.exec(given) ?? [];
  if (tool === undefined)
    throw new UsageError(
      `--${name} must be the name of a tool, optionally followed by its arguments as JSON; got "${given}"`,
    );
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
  const { target, dial, words, token: secret } = namedTarget(invocation);
  if (words.length > 0) throw new UsageError(`arcp conformance takes one target; remove "${words[0]}"`);
  const { timeout, tool, job, 'other-token': other } = options;
  const subject: CheckTarget = {
    dial,
    isShared: program.length === 0,
    auth: bearer(secret),
    otherAuth: bearer(other),
    tool,
    job,
    timeoutMs: timeout,
  };
  const counts: Record<CheckOutcome, number> = { passed: 0, failed: 0, warned: 0, skipped: 0 };
  for await (const result of withTarget(checkRuntime(subject), target)) {
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
  const exchanged = transcript.map((line) => output.paint('dim', `        ${visible(line.slice(0, 300))}`));
  return [first, ...why, ...exchanged].join('\n');
}
