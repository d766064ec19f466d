/** The work of `pegwire arcp conformance`. */
import { dialOf } from '../../../arcp/client/index.js';
import {
  type Call,
  type CheckOutcome,
  type CheckResult,
  checkRuntime,
  type Subject,
} from '../../../arcp/conformance/index.js';
import { visible } from '../../../text/visible.js';
import { toJson } from '../../io/json.js';
import type { Style } from '../../io/output.js';
import { type Invocation, UsageError } from '../../options/command.js';
import { secondsOption, textOption } from '../../options/option.js';
import { namedTarget, unreachable } from './targets.js';

const STYLES: Readonly<Record<CheckOutcome, Style>> = {
  passed: 'green',
  failed: 'red',
  warned: 'yellow',
  skipped: 'dim',
};

/** @returns the exit code: 1 where the runtime is not as it must be */
export async function runConformance(invocation: Invocation): Promise<number> {
  const { json, output, program } = invocation;
  const { target, words, token } = namedTarget(invocation);
  if (words.length > 0) throw new UsageError(`arcp conformance takes a runtime, not "${words[0]}" as well`);
  const timeout = secondsOption(invocation, 'timeout');
  const other = textOption(invocation, 'other-token');
  const subject: Subject = {
    ...{ dial: dialOf(target, { token }), isShared: program.length === 0 },
    ...{ auth: bearer(token), otherAuth: bearer(other) },
    ...{ quick: callOption(invocation, 'tool'), slow: callOption(invocation, 'job') },
    timeoutMs: timeout === undefined ? undefined : timeout * 1000,
  };
  const counts: Record<CheckOutcome, number> = { passed: 0, failed: 0, warned: 0, skipped: 0 };
  const checks = checkRuntime(subject);
  for (;;) {
    let next: IteratorResult<CheckResult>;
    try {
      next = await checks.next();
    } catch (thrown) {
      throw unreachable(thrown, target);
    }
    if (next.done === true) break;
    counts[next.value.outcome]++;
    await output.result(json ? toJson(next.value) : lines(invocation, next.value));
  }
  const { passed, failed, warned, skipped } = counts;
  if (!json) await output.note(`${passed} passed, ${failed} failed, ${warned} warned, ${skipped} skipped`);
  return failed === 0 ? 0 : 1;
}

function bearer(token: string | undefined): Subject['auth'] {
  return token === undefined ? undefined : { scheme: 'bearer', token };
}

/** A tool, and the JSON of its arguments behind it. @throws UsageError */
function callOption(invocation: Invocation, name: string): Call | undefined {
  const text = textOption(invocation, name);
  if (text === undefined) return undefined;
  const [, tool, json] = /^(\S+)(?:\s+(.*))?$/s.exec(text) ?? [];
  if (tool === undefined)
    throw new UsageError(`--${name} is the name of a tool, with JSON behind it where it takes some`);
  if (json === undefined) return { tool };
  try {
    const args = JSON.parse(json) as unknown;
    if (typeof args === 'object' && args !== null && !Array.isArray(args))
      return { tool, arguments: args as Record<string, unknown> };
  } catch {
    // Said below.
  }
  throw new UsageError(`Arguments are an object in JSON, not ${json.slice(0, 100)}`);
}

function lines(
  { output }: Invocation,
  { id, requirements, title, outcome, reason, transcript = [] }: CheckResult,
): string {
  const first = `${output.paint(STYLES[outcome], outcome.padEnd(7))} ${id}: ${title} (${requirements.join(', ')})`;
  const why = reason === undefined ? [] : [`        ${visible(reason)}`];
  const said = transcript.map((line) => output.paint('dim', `        ${visible(line.slice(0, 300))}`));
  return [first, ...why, ...said].join('\n');
}
