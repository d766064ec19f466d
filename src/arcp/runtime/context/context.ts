/** What a handler is given. */
import { ignoreRejection, ignoringRejections } from '../../../async/listeners.js';
import { byCodeUnit } from '../../../text/ascii.js';
import { accepts } from '../../protocol/accepts.js';
import { CATALOGUE, type MessageType, type PayloadOf } from '../../protocol/catalogue.js';
import { judge } from '../../protocol/codec.js';
import { type ArcpError, asArcpError } from '../../protocol/errors.js';
import { formatTimestamp, newSpanId } from '../../protocol/ids.js';
import { jsonOf } from '../../protocol/json.js';
import type { ArcpStore, NewEvent, RecordChange, StoredRecord } from '../../store/store.js';
import { boundedBody } from '../events/message.js';
import type { Attempt } from '../job/attempt.js';
import { JobMessages } from '../job/messages.js';
import type { JobOutbox } from '../job/outbox.js';
import { type JobSpec, nextDepth } from '../job/spec.js';
import type { CallOptions, JobContext, KeyValueStore, Registration, Span, SpanOptions } from '../types.js';
import { checkCall, checkResult, invalid } from '../works.js';
import { handOff, startChild } from './delegation.js';
import { askFor } from './permission.js';
import { checkpoint, keepStep, knownStep, step } from './steps.js';

export function contextOf(job: Attempt, restored: unknown): JobContext {
  const { row, spec, messages } = job;
  const say = ignoringRejections(async <T extends MessageType>(type: T, payload: PayloadOf<T>): Promise<void> => {
    assertPayload(type, payload);
    await job.outbox.add({ events: [messages.event(type, payload)] });
  });
  const keeping = { store: job.log.store, outbox: job.outbox };
  // They count until the shared context has values of these names.
  const initial = spec.command.type === 'agent.delegate' ? spec.command.payload.context?.values : undefined;
  const shared = sharedValues(job, spec.contextId ?? row.jobId, initial);
  return {
    jobId: spec.isDurable ? row.jobId : undefined,
    commandId: spec.command.id,
    sessionId: row.sessionId,
    principal: row.principal,
    trust: spec.trust,
    attempt: row.attempt,
    signal: job.signal,
    traceId: spec.trace.traceId,
    spanId: spec.trace.spanId,
    restored,
    operationKey: spec.command.payload.operation_key,
    progress: ignoringRejections(async (progress) => {
      assertPayload('job.progress', progress);
      job.noteProgress();
      // Direct calls have no progress message.
      if (spec.isDurable && !job.isCall) await say('job.progress', progress);
      else await say('event.emit', { name: 'arcp.progress', attributes: progress });
    }),
    log: (level, message, attributes) => say('log', { level, message, attributes }),
    metric: ignoringRejections(async (metric) => {
      await say('metric', metric);
      job.host.telemetry?.metric(metric);
    }),
    emit: (name, attributes) => say('event.emit', { name, attributes }),
    traceparent: traceparentOf(spec.trace.traceId, spec.trace.spanId),
    span: (name, work, options) =>
      ignoreRejection(withSpan(job, { spanId: spec.trace.spanId, toldAs: job.telemetrySpanId }, name, work, options)),
    stream: (options) => job.openStream(options),
    incoming: (which) => job.readUpload(which),
    checkpoint: ignoringRejections(async (data, options) => (await checkpoint(job, data, options))!),
    onCheckpoint: (snapshot) => job.onCheckpoint(snapshot),
    permission: (wish) => ignoreRejection(askFor(job, wish)),
    step: (key, work) => ignoreRejection(step(job, key, work)),
    call: <R>(tool: string, args = {}, options = {}) =>
      ignoreRejection(callTool(job, tool, args, options) as Promise<R>),
    delegate: (agent, task, { arguments: args, values, contextId, ...options } = {}) => {
      const context = {
        trace_id: spec.trace.traceId,
        shared_context_id: contextId ?? shared.id,
        permissions_inherited: options.permissions && [...options.permissions],
        values: values && { ...values },
      };
      const payload = { target: agent, task, context, arguments: args && { ...args } };
      return ignoreRejection(startChild(job, 'agent.delegate', payload, options));
    },
    startWorkflow: (workflow, inputs = {}, options = {}) =>
      ignoreRejection(startChild(job, 'workflow.start', { workflow, inputs: { ...inputs } }, options)),
    handOff: (agent, options) => ignoreRejection(handOff(job, agent, options)),
    handoff: job.status.handedOver,
    memory: valuesOf({ id: row.sessionId, scope: `memory:${row.sessionId}`, owner: row.sessionId, ...keeping }),
    shared,
    sharedContext: (id) => sharedValues(job, id),
  };
}

function sharedValues(
  { row, log, outbox, messages }: Attempt,
  id: string,
  initial?: ValuesOptions['initial'],
): KeyValueStore {
  return valuesOf({
    id,
    scope: `context:${row.principal}:${id}`,
    store: log.store,
    outbox,
    initial,
    changed: (key, value) =>
      messages.event('event.emit', { name: 'arcp.context.changed', attributes: { context_id: id, key, value } }),
  });
}

function assertPayload(type: MessageType, payload: unknown): void {
  const schema = CATALOGUE[type].payload;
  if (!accepts(schema, payload)) throw invalid(judge(schema, payload).error!, `Not a ${type}: `);
}

/** Calls a tool for a job, with the job's trust, permissions and signal. */
async function callTool(attempt: Attempt, tool: string, args: object, { key }: CallOptions): Promise<unknown> {
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
function within(spec: JobSpec, attempt: Attempt, work: Registration, commandId: string, place?: string): Attempt {
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

/** Stretches of work that are told of when they are over (spec 003, "Observability"; compatible with OpenTelemetry). */
interface Within {
  readonly spanId: string;
  readonly toldAs: string | undefined;
}

/** Reports the work as a span when it has ended, even if it failed. */
async function withSpan<T>(
  attempt: Attempt,
  within: Within,
  name: string,
  work: (span: Span) => T | Promise<T>,
  { attributes = {}, kind = 'internal' }: SpanOptions = {},
): Promise<T> {
  const { now } = attempt.host;
  const { traceId } = attempt.spec.trace;
  const start = now();
  const told = attempt.host.telemetry?.startSpan(name, {
    traceId,
    parentSpanId: within.toldAs,
    kind,
    startedAt: start,
    attributes,
  });
  const parentSpanId = within.spanId;
  // A span known to telemetry keeps its id there.
  const spanId = told === undefined || /^0*$/.test(told.spanId) ? newSpanId() : told.spanId;
  const all: Record<string, unknown> = { ...attributes };
  const events: Record<string, unknown>[] = [];
  const span: Span = {
    traceId,
    spanId,
    traceparent: traceparentOf(traceId, spanId),
    set: (more) => void Object.assign(all, more),
    event: (what, about) => {
      events.push({ name: what, time: formatTimestamp(now()), attributes: about });
      told?.event(what, about ?? {}, now());
    },
    span: (inner, innerWork, options) => withSpan(attempt, { spanId, toldAs: told?.spanId }, inner, innerWork, options),
  };
  let error: ArcpError | undefined;
  try {
    return await work(span);
  } catch (thrown) {
    error = asArcpError(thrown);
    all['error.type'] = error.code;
    throw thrown;
  } finally {
    const end = now();
    told?.end({ endedAt: end, attributes: all, error });
    const payload: PayloadOf<'trace.span'> = {
      name,
      trace_id: traceId,
      span_id: spanId,
      parent_span_id: parentSpanId,
      kind,
      status: error === undefined ? 'ok' : 'error',
      start_time: formatTimestamp(start),
      end_time: formatTimestamp(end),
      ...(Object.keys(all).length === 0 ? {} : { attributes: all }),
      ...(events.length === 0 ? {} : { events }),
    };
    const trace = { traceId, spanId, parentSpanId };
    await attempt.outbox.add({ events: [attempt.messages.event('trace.span', payload, { trace })] });
  }
}

/** @returns `undefined` unless the ids are those of W3C Trace Context */
function traceparentOf(traceId: string, spanId: string): string | undefined {
  const isOne = /^(?!0{32})[0-9a-f]{32}$/.test(traceId) && /^(?!0{16})[0-9a-f]{16}$/.test(spanId);
  return isOne ? `00-${traceId}-${spanId}-01` : undefined;
}

/** Values by name that outlive the work that keeps them (spec 003, "Sessions": "maintain memory", "share execution context"). */
interface ValuesOptions {
  readonly id: string;
  readonly scope: string;
  readonly owner?: string | undefined;
  readonly store: ArcpStore;
  readonly outbox: JobOutbox;
  /** Values of keys that were never set or deleted. */
  readonly initial?: Readonly<Record<string, unknown>> | undefined;
  /** Reports a change. */
  readonly changed?: ((key: string, value: unknown) => NewEvent) | undefined;
}

/** Marks a deleted value. The record stays, so that versions keep rising. */
const DELETED = '';

function valueIn<T>(found: StoredRecord | undefined): T | undefined {
  return found === undefined || found.value === DELETED ? undefined : (JSON.parse(found.value) as T);
}

function valuesOf({ id, scope, owner, store, outbox, initial = {}, changed }: ValuesOptions): KeyValueStore {
  const valueAt = <T>(key: string, found: StoredRecord | undefined): T | undefined =>
    found === undefined && Object.hasOwn(initial, key) ? (structuredClone(initial[key]) as T) : valueIn<T>(found);
  const record = (key: string, value: unknown, expect?: number): RecordChange => ({
    scope,
    key,
    value: value === undefined ? DELETED : jsonOf(value, `the value of ${key}`),
    expect,
    owner,
  });
  const told = (key: string, value: unknown): readonly NewEvent[] =>
    changed === undefined ? [] : [changed(key, value)];
  return {
    id,
    get: async <T>(key: string) => valueAt<T>(key, await store.readRecord(scope, key)),
    set: ignoringRejections(async (key, value) =>
      outbox.add({ records: [record(key, value ?? null)], events: told(key, value ?? null) }),
    ),
    update: ignoringRejections(async <T>(key: string, change: (value: T | undefined) => T) => {
      for (;;) {
        const found = await store.readRecord(scope, key);
        const value = change(valueAt<T>(key, found)) ?? null;
        const changed = record(key, value, found?.version ?? 0);
        if (await outbox.tryAdd({ records: [changed], events: told(key, value) }))
          return JSON.parse(changed.value!) as T;
      }
    }),
    delete: (key) => outbox.add({ records: [record(key, undefined)], events: told(key, null) }),
    entries: async () => {
      const all = await store.listRecords(scope, { limit: Number.POSITIVE_INFINITY });
      const values = new Map(Object.entries(structuredClone(initial)));
      for (const { key, value } of all) {
        if (value === DELETED) values.delete(key);
        else values.set(key, JSON.parse(value));
      }
      return [...values].sort(([a], [b]) => byCodeUnit(a, b));
    },
  };
}
