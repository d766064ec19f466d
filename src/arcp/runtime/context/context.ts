/** The context of a handler. */
import { ignoreRejection, ignoringRejections } from '../../../async/listeners.js';
import { byCodeUnit } from '../../../text/ascii.js';
import { accepts } from '../../protocol/accepts.js';
import { CATALOGUE, type MessageType, type PayloadOf } from '../../protocol/catalogue.js';
import { validate } from '../../protocol/codec.js';
import { type ArcpError, asArcpError } from '../../protocol/errors.js';
import { formatTimestamp, newSpanId } from '../../protocol/ids.js';
import { jsonOf } from '../../protocol/json.js';
import type { ArcpStore, NewEvent, RecordChange, StoredRecord } from '../../store/store.js';
import { boundedBody } from '../events/message.js';
import type { Attempt } from '../job/attempt.js';
import { JobMessages } from '../job/messages.js';
import type { JobOutbox } from '../job/outbox.js';
import { type JobSpec, nextDepth } from '../job/spec.js';
import { checkCall, checkResult, invalid } from '../registrations.js';
import type { CallOptions, JobContext, KeyValueStore, Registration, Span, SpanOptions } from '../types.js';
import { handOff, startChild } from './delegation.js';
import { requestPermission } from './permission.js';
import { checkpoint, findStep, step, stepRecord } from './steps.js';

export function contextOf(job: Attempt, restored: unknown): JobContext {
  const { row, spec, messages } = job;
  const report = ignoringRejections(async <T extends MessageType>(type: T, payload: PayloadOf<T>): Promise<void> => {
    assertPayload(type, payload);
    await job.outbox.add({ events: [messages.event(type, payload)] });
  });
  const storage = { store: job.log.store, outbox: job.outbox };
  // They apply to keys that the shared context has never had.
  const initial = spec.command.type === 'agent.delegate' ? spec.command.payload.context?.values : undefined;
  const shared = sharedStore(job, spec.contextId ?? row.jobId, initial);
  return {
    jobId: spec.isDurable ? row.jobId : undefined,
    commandId: spec.command.id,
    sessionId: row.sessionId,
    principal: row.principal,
    trust: spec.trust,
    attempt: row.attempt,
    get signal() {
      return job.signal;
    },
    traceId: spec.trace.traceId,
    spanId: spec.trace.spanId,
    restored,
    operationKey: spec.command.payload.operation_key,
    progress: ignoringRejections(async (progress) => {
      assertPayload('job.progress', progress);
      job.noteProgress();
      // Direct calls have no progress message.
      if (spec.isDurable && !job.isCall) await report('job.progress', progress);
      else await report('event.emit', { name: 'arcp.progress', attributes: progress });
    }),
    log: (level, message, attributes) => report('log', { level, message, attributes }),
    metric: ignoringRejections(async (metric) => {
      await report('metric', metric);
      job.host.telemetry?.metric(metric);
    }),
    emit: (name, attributes) => report('event.emit', { name, attributes }),
    traceparent: traceparentOf(spec.trace.traceId, spec.trace.spanId),
    span: (name, work, options) =>
      ignoreRejection(
        withSpan(job, { spanId: spec.trace.spanId, telemetryId: job.telemetrySpanId }, name, work, options),
      ),
    streams: spec.streams,
    stream: (options) => job.openStream(options),
    incoming: (which) => job.readUpload(which),
    checkpoint: ignoringRejections(async (data, options) => (await checkpoint(job, data, options))!),
    onCheckpoint: (snapshot) => job.onCheckpoint(snapshot),
    permission: (request) => ignoreRejection(requestPermission(job, request)),
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
    memory: keyValueStore({ id: row.sessionId, scope: `memory:${row.sessionId}`, owner: row.sessionId, ...storage }),
    shared,
    sharedContext: (id) => sharedStore(job, id),
  };
}

function sharedStore(
  { row, log, outbox, messages }: Attempt,
  id: string,
  initial?: KeyValueStoreOptions['initial'],
): KeyValueStore {
  return keyValueStore({
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
  if (!accepts(schema, payload)) throw invalid(validate(schema, payload).error!, `Invalid ${type}: `, 'payload');
}

/** Calls a tool for a job, with the trust, permissions and signal of the job. */
async function callTool(attempt: Attempt, tool: string, args: object, { key }: CallOptions): Promise<unknown> {
  const { spec, messages, outbox, host } = attempt;
  const depth = nextDepth(spec);
  const registration = host.find('tool', tool);
  const input = await checkCall(registration, { kind: 'tool', name: tool, trust: spec.trust, input: { ...args } });
  const stepKey = key === undefined ? undefined : `call:${key}`;
  const execute = async (): Promise<unknown> => {
    const known = stepKey === undefined ? undefined : await findStep(attempt, stepKey);
    if (known !== undefined) return known.result;
    const trace = { traceId: spec.trace.traceId, spanId: newSpanId(), parentSpanId: spec.trace.spanId };
    const invoked = messages.event('tool.invoke', { tool, arguments: { ...args } }, { trace });
    await outbox.add({ events: [invoked] });
    const child = callAttempt({ ...spec, trace, depth }, attempt, registration!, invoked.id, stepKey);
    const startedAt = performance.now();
    try {
      const result = await checkResult(
        registration!,
        await registration!.handler(input as never, contextOf(child, undefined)),
      );
      const duration_ms = performance.now() - startedAt;
      const { record, stored } = stepRecord(attempt, stepKey ?? invoked.id, result);
      const returned = child.messages.event('tool.result', { result: stored, duration_ms });
      await outbox.add({ events: [returned], records: stepKey === undefined ? [] : [record] });
      return stored;
    } catch (thrown) {
      const error = asArcpError(thrown);
      await outbox.add({ events: [child.messages.event('tool.error', { ...boundedBody(error, spec.limits) })] });
      throw error;
    }
  };
  return stepKey === undefined ? execute() : attempt.once(`${attempt.stepPrefix}${stepKey}`, execute);
}

/** Returns the attempt as seen by a tool that it calls. */
function callAttempt(
  spec: JobSpec,
  attempt: Attempt,
  work: Registration,
  commandId: string,
  stepKey?: string,
): Attempt {
  const { log, row } = attempt;
  return {
    ...attempt,
    spec,
    work,
    messages: new JobMessages(log, row, { ...spec, command: { ...spec.command, id: commandId } }, commandId),
    // Two calls of one tool have separate steps.
    stepPrefix: `${attempt.stepPrefix}${stepKey ?? commandId}/`,
    isCall: true,
    telemetrySpanId: attempt.telemetrySpanId,
    get signal() {
      return attempt.signal;
    },
    get status() {
      return attempt.status;
    },
    // Checkpoints belong to the job.
    onCheckpoint: () => {},
  };
}

/** The parent of a span (spec 003, "Observability"; compatible with OpenTelemetry). */
interface ParentSpan {
  readonly spanId: string;
  /** The id of the span in the host's telemetry. */
  readonly telemetryId: string | undefined;
}

/** Reports work as a span when it has ended, whether or not it failed. */
async function withSpan<T>(
  attempt: Attempt,
  parent: ParentSpan,
  name: string,
  work: (span: Span) => T | Promise<T>,
  { attributes = {}, kind = 'internal' }: SpanOptions = {},
): Promise<T> {
  const { now } = attempt.host;
  const { traceId } = attempt.spec.trace;
  const start = now();
  const exported = attempt.host.telemetry?.startSpan(name, {
    traceId,
    parentSpanId: parent.telemetryId,
    kind,
    startedAt: start,
    attributes,
  });
  const parentSpanId = parent.spanId;
  // If telemetry has assigned an id, the span keeps it.
  const spanId = exported === undefined || /^0*$/.test(exported.spanId) ? newSpanId() : exported.spanId;
  const all: Record<string, unknown> = { ...attributes };
  const events: Record<string, unknown>[] = [];
  const span: Span = {
    traceId,
    spanId,
    traceparent: traceparentOf(traceId, spanId),
    set: (more) => void Object.assign(all, more),
    event: (eventName, eventAttributes) => {
      events.push({ name: eventName, time: formatTimestamp(now()), attributes: eventAttributes });
      exported?.event(eventName, eventAttributes ?? {}, now());
    },
    span: (inner, innerWork, options) =>
      withSpan(attempt, { spanId, telemetryId: exported?.spanId }, inner, innerWork, options),
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
    exported?.end({ endedAt: end, attributes: all, error });
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

/** Returns the `traceparent` header of a span; `undefined` unless the ids have the form of W3C Trace Context. */
function traceparentOf(traceId: string, spanId: string): string | undefined {
  const isOne = /^(?!0{32})[0-9a-f]{32}$/.test(traceId) && /^(?!0{16})[0-9a-f]{16}$/.test(spanId);
  return isOne ? `00-${traceId}-${spanId}-01` : undefined;
}

/** Options of a key-value store that outlives the job (spec 003, "Sessions": "maintain memory", "share execution context"). */
interface KeyValueStoreOptions {
  readonly id: string;
  readonly scope: string;
  readonly owner?: string | undefined;
  readonly store: ArcpStore;
  readonly outbox: JobOutbox;
  /** Values of keys that were never set or deleted. */
  readonly initial?: Readonly<Record<string, unknown>> | undefined;
  /** Returns the event that reports a change. */
  readonly changed?: ((key: string, value: unknown) => NewEvent) | undefined;
}

/** Marks a deleted value. The record remains, so that versions keep increasing. */
const DELETED = '';

function valueIn<T>(found: StoredRecord | undefined): T | undefined {
  return found === undefined || found.value === DELETED ? undefined : (JSON.parse(found.value) as T);
}

function keyValueStore({
  id,
  scope,
  owner,
  store,
  outbox,
  initial = {},
  changed,
}: KeyValueStoreOptions): KeyValueStore {
  const valueAt = <T>(key: string, found: StoredRecord | undefined): T | undefined =>
    found === undefined && Object.hasOwn(initial, key) ? (structuredClone(initial[key]) as T) : valueIn<T>(found);
  const record = (key: string, value: unknown, expect?: number): RecordChange => ({
    scope,
    key,
    value: value === undefined ? DELETED : jsonOf(value, `the value of ${key}`),
    expect,
    owner,
  });
  const changeEvents = (key: string, value: unknown): readonly NewEvent[] =>
    changed === undefined ? [] : [changed(key, value)];
  return {
    id,
    get: async <T>(key: string) => valueAt<T>(key, await store.readRecord(scope, key)),
    set: ignoringRejections(async (key, value) =>
      outbox.add({ records: [record(key, value ?? null)], events: changeEvents(key, value ?? null) }),
    ),
    update: ignoringRejections(async <T>(key: string, change: (value: T | undefined) => T) => {
      for (;;) {
        const found = await store.readRecord(scope, key);
        const value = change(valueAt<T>(key, found)) ?? null;
        const changed = record(key, value, found?.version ?? 0);
        if (await outbox.tryAdd({ records: [changed], events: changeEvents(key, value) }))
          return JSON.parse(changed.value!) as T;
      }
    }),
    delete: (key) => outbox.add({ records: [record(key, undefined)], events: changeEvents(key, null) }),
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
