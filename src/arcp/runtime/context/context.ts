/** What a handler is given. */
import { ignoreRejection, ignoringRejections } from '../../../async/listeners.js';
import { CATALOGUE, type MessageType, type PayloadOf } from '../../protocol/catalogue.js';
import { judge } from '../../protocol/codec.js';
import type { Attempt } from '../job/attempt.js';
import type { JobContext, Values } from '../types.js';
import { invalid } from '../works.js';
import { callTool } from './call.js';
import { handOff, startChild } from './delegation.js';
import { askFor } from './permission.js';
import { traceparentOf, withSpan } from './span.js';
import { checkpoint, step } from './steps.js';
import { type ValuesOptions, valuesOf } from './values.js';

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
      ignoreRejection(callTool(job, contextOf, tool, args, options) as Promise<R>),
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
    handedOver: job.status.handedOver,
    memory: valuesOf({ id: row.sessionId, scope: `memory:${row.sessionId}`, owner: row.sessionId, ...keeping }),
    shared,
    sharedContext: (id) => sharedValues(job, id),
  };
}

function sharedValues({ row, log, outbox, messages }: Attempt, id: string, initial?: ValuesOptions['initial']): Values {
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
  const judged = judge(CATALOGUE[type].payload, payload);
  if (judged.success) return;
  throw invalid(judged.error, `Not a ${type}: `);
}
