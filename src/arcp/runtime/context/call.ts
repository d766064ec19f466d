/** Tools that work calls as a part of itself: told of as calls of their own, and never as its end. */
import { asArcpError } from '../../protocol/errors.js';
import { newSpanId } from '../../protocol/ids.js';
import { boundedBody } from '../events/message.js';
import type { Attempt } from '../job/attempt.js';
import { Voice } from '../job/messages.js';
import { deeper, type JobSpec } from '../job/spec.js';
import type { CallOptions, JobContext, Work } from '../types.js';
import { judge, judgeResult } from '../works.js';
import { keepStep, knownStep } from './steps.js';

/** Makes what the handler of a call is given. */
type ContextOf = (attempt: Attempt, restored: unknown) => JobContext;

/**
 * Calls a tool in the place of its caller: with its trust, its permissions and its signal.
 *
 * @throws ArcpError `NOT_FOUND`, `INVALID_ARGUMENT`, and what the tool fails with
 */
export async function callTool(
  attempt: Attempt,
  contextOf: ContextOf,
  tool: string,
  args: object,
  { key }: CallOptions,
): Promise<unknown> {
  const depth = deeper(attempt.spec);
  const work = attempt.find('tool', tool);
  const input = await judge(work, { kind: 'tool', name: tool, trust: attempt.spec.trust, input: { ...args } });
  const place = key === undefined ? undefined : `call:${key}`;
  const carryOut = (): Promise<unknown> =>
    carryOutCall(attempt, contextOf, { tool, args, work: work!, input, place, depth });
  return place === undefined ? carryOut() : attempt.once(`${attempt.stepPrefix}${place}`, carryOut);
}

interface Call {
  readonly tool: string;
  readonly args: object;
  readonly work: Work;
  readonly input: unknown;
  /** Where its result is kept, if it has a key. */
  readonly place: string | undefined;
  readonly depth: number;
}

async function carryOutCall(
  attempt: Attempt,
  contextOf: ContextOf,
  { tool, args, work, input, place, depth }: Call,
): Promise<unknown> {
  const known = place === undefined ? undefined : await knownStep(attempt, place);
  if (known !== undefined) return known.result;
  const { spec, voice, outbox } = attempt;
  const trace = { traceId: spec.trace.traceId, spanId: newSpanId(), parentSpanId: spec.trace.spanId };
  const invoked = voice.event('tool.invoke', { tool, arguments: { ...args } }, { trace });
  await outbox.add({ events: [invoked] });
  const child = within({ ...attempt.spec, trace, depth }, attempt, work, invoked.id, place);
  const begun = performance.now();
  try {
    const result = await judgeResult(work, await work.handler(input as never, contextOf(child, undefined)));
    const duration_ms = performance.now() - begun;
    const { record, kept } = keepStep(attempt, place ?? invoked.id, result);
    const told = child.voice.event('tool.result', { ...(kept === undefined ? {} : { result: kept }), duration_ms });
    await outbox.add({ events: [told], records: place === undefined ? [] : [record] });
    return kept;
  } catch (thrown) {
    const error = asArcpError(thrown);
    await outbox.add({ events: [child.voice.event('tool.error', { ...boundedBody(error, attempt.spec.limits) })] });
    throw error;
  }
}

/** The same attempt, as one of its calls sees it. */
function within(spec: JobSpec, attempt: Attempt, work: Work, commandId: string, place?: string): Attempt {
  const { row, log, outbox, permissions, signal } = attempt;
  return {
    row,
    log,
    outbox,
    permissions,
    signal,
    spec,
    work,
    voice: new Voice(log, row, { ...spec, command: { ...spec.command, id: commandId } }, commandId),
    // Steps of two calls of one tool are two.
    stepPrefix: `${attempt.stepPrefix}${place ?? commandId}/`,
    isCall: true,
    telemetry: attempt.telemetry,
    toldAs: attempt.toldAs,
    get status() {
      return attempt.status;
    },
    once: attempt.once,
    find: attempt.find,
    changeStatus: attempt.changeStatus,
    noteProgress: attempt.noteProgress,
    wait: attempt.wait,
    openStream: attempt.openStream,
    readUpload: attempt.readUpload,
    startChild: attempt.startChild,
    outcomeOf: attempt.outcomeOf,
    leave: attempt.leave,
    // Where the job stands is its own to say.
    onCheckpoint: () => {},
  };
}
