/** Tools that work calls as a part of itself: told of as calls of their own, and never as its end. */
import { asArcpError } from '../../protocol/errors.js';
import { newSpanId } from '../../protocol/ids.js';
import { boundedBody } from '../events/message.js';
import type { Attempt } from '../job/attempt.js';
import { JobMessages } from '../job/messages.js';
import { type JobSpec, nextDepth } from '../job/spec.js';
import type { CallOptions, JobContext, Work } from '../types.js';
import { checkCall, checkResult } from '../works.js';
import { keepStep, knownStep } from './steps.js';

type ContextOf = (attempt: Attempt, restored: unknown) => JobContext;

/** Calls a tool for a job, with the job's trust, permissions and signal. */
export async function callTool(
  attempt: Attempt,
  contextOf: ContextOf,
  tool: string,
  args: object,
  { key }: CallOptions,
): Promise<unknown> {
  const { spec, messages, outbox, host } = attempt;
  const depth = nextDepth(spec);
  const work = host.find('tool', tool);
  const input = await checkCall(work, { kind: 'tool', name: tool, trust: spec.trust, input: { ...args } });
  const place = key === undefined ? undefined : `call:${key}`;
  const carryOut = async (): Promise<unknown> => {
    const known = place === undefined ? undefined : await knownStep(attempt, place);
    if (known !== undefined) return known.result;
    const trace = { traceId: spec.trace.traceId, spanId: newSpanId(), parentSpanId: spec.trace.spanId };
    const invoked = messages.event('tool.invoke', { tool, arguments: { ...args } }, { trace });
    await outbox.add({ events: [invoked] });
    const child = within({ ...spec, trace, depth }, attempt, work!, invoked.id, place);
    const begun = performance.now();
    try {
      const result = await checkResult(work!, await work!.handler(input as never, contextOf(child, undefined)));
      const duration_ms = performance.now() - begun;
      const { record, kept } = keepStep(attempt, place ?? invoked.id, result);
      const told = child.messages.event('tool.result', { result: kept, duration_ms });
      await outbox.add({ events: [told], records: place === undefined ? [] : [record] });
      return kept;
    } catch (thrown) {
      const error = asArcpError(thrown);
      await outbox.add({ events: [child.messages.event('tool.error', { ...boundedBody(error, spec.limits) })] });
      throw error;
    }
  };
  return place === undefined ? carryOut() : attempt.once(`${attempt.stepPrefix}${place}`, carryOut);
}

/** The attempt as seen by one of its calls. */
function within(spec: JobSpec, attempt: Attempt, work: Work, commandId: string, place?: string): Attempt {
  const { log, row } = attempt;
  return {
    ...attempt,
    spec,
    work,
    messages: new JobMessages(log, row, { ...spec, command: { ...spec.command, id: commandId } }, commandId),
    // Two calls of one tool have separate steps.
    stepPrefix: `${attempt.stepPrefix}${place ?? commandId}/`,
    isCall: true,
    telemetrySpanId: attempt.telemetrySpanId,
    get status() {
      return attempt.status;
    },
    // Checkpoints belong to the job.
    onCheckpoint: () => {},
  };
}
