/**
 * Commands that start a tool, a workflow or an agent (spec 003, "Execution Messages", "Invocation Flow"). Operations with a key are
 * executed once ("Delivery Semantics": "idempotent tools with explicit operation keys").
 */
import { sha256Hex } from '../../../text/sha256.js';
import { ArcpError } from '../../protocol/errors.js';
import { canonicalJson } from '../../protocol/json.js';
import type { ArcpStore, JobRow, StoredRecord } from '../../store/store.js';
import { targetOf } from '../context/delegation.js';
import type { ConnectionContext, Core } from '../core.js';
import { startJob } from '../engine/jobs.js';
import { traceBelow } from '../events/message.js';
import { JobMessages } from '../job/messages.js';
import {
  inputOf,
  type JobSpec,
  type ResolvedRetry,
  resolveRetry,
  type StartingCommand,
  shorter,
  specOf,
  statusOf,
} from '../job/spec.js';
import { checkCall } from '../registrations.js';
import { can, type Session } from '../sessions/session.js';
import type { Registration, ToolOptions } from '../types.js';
import { inlineWorkflow } from '../workflow.js';
import { type CommandResult, commandRecord } from './command.js';

/** The maximum number of attempts that a client may request of a tool without a retry policy. */
const MAX_REQUESTED_ATTEMPTS = 10;

/** Accepts a command: stores the job, and starts it at once if a slot is free. */
export async function startCommand(connection: ConnectionContext, command: StartingCommand): Promise<CommandResult> {
  const { core, engine, session } = connection;
  const { store } = engine;
  // The job of a session that outlives the runtime waits for another runtime or the next start.
  if (core.isDraining() && !(store.durable && session.mode === 'durable'))
    throw new ArcpError('UNAVAILABLE', 'The runtime is shutting down');
  const work = await findRegistration(core, session, command);
  const spec = specFor(session, command, work, core.settings.now());
  const operation = operationOf(session.principal, spec);
  for (let stored = operation && (await store.readRecord(operation.scope, operation.key)); ; ) {
    const previous = operation && stored && (await previousJob(store, operation, stored));
    if (previous !== undefined && spec.isDurable) return answerDuplicate(connection, command, previous);
    const result = await startJob(engine, {
      sessionId: session.id,
      principal: session.principal,
      options: work.options,
      spec: previous === undefined ? spec : { ...spec, follows: previous.jobId },
      maxQueued: core.settings.maxJobs,
      with: ({ jobId, accepted }) => {
        const record = commandRecord(connection, command, { answerId: accepted.id, jobId }, jobId);
        if (operation === undefined || previous !== undefined) return { records: [record] };
        const { scope, key, digest } = operation;
        const value = JSON.stringify({ digest, jobId });
        return { records: [record, { scope, key, value, expect: stored?.version ?? 0, owner: jobId }] };
      },
    });
    if (result.outcome !== 'conflict') return {};
    if (operation?.scope !== result.scope) return { previous: result.found };
    stored = result.found;
  }
}

/** Answers with the job that was started with the same key. */
async function answerDuplicate(
  connection: ConnectionContext,
  command: StartingCommand,
  row: JobRow,
): Promise<CommandResult> {
  const { session, engine } = connection;
  const { log } = engine;
  const messages = new JobMessages(log, { jobId: row.jobId, sessionId: session.id }, { ...specOf(row), command });
  const { body } = messages.duplicate(row.state === 'queued' ? 'queued' : 'accepted', row.createdAt);
  const result = await log.commit({
    records: [commandRecord(connection, command, { answer: body }, row.jobId)],
  });
  return result.outcome === 'conflict' ? { previous: result.found } : { answer: body };
}

async function findRegistration(core: Core, { trust }: Session, command: StartingCommand): Promise<Registration> {
  const [kind, name] = targetOf(command);
  const registered = core.find(kind, name);
  const inline = inlineWorkflow(command);
  if (registered !== undefined && inline !== undefined)
    throw new ArcpError(
      'INVALID_ARGUMENT',
      `The workflow ${JSON.stringify(name)} is registered; omit steps to start it`,
    );
  const work = registered ?? inline;
  await checkCall(work, { kind, name, trust, input: inputOf(command) });
  return work!;
}

function specFor(
  session: Session,
  command: StartingCommand,
  { kind, name, options }: Registration,
  now: number,
): JobSpec {
  return {
    kind,
    target: name,
    isDurable: isDurable(session, command, options),
    command,
    trace: traceBelow(command),
    limits: session.limits,
    trust: session.trust,
    retry: retryOf(command, options),
    streams: streamsOf(session),
    mayHandOff: can(session.capabilities, 'agent_handoff'),
    wantsValue: session.wantsValue,
    contextId: command.type === 'agent.delegate' ? command.payload.context?.shared_context_id : undefined,
    timeoutMs: timeoutOf(command, options, now),
  };
}

/** Determines whether the command becomes a durable job. @throws ArcpError if the session does not allow the requested mode */
function isDurable(session: Session, command: StartingCommand, options: ToolOptions): boolean {
  const mode = command.type === 'tool.invoke' ? (command.payload.mode ?? 'auto') : 'auto';
  const hasJobs = can(session.capabilities, 'durable_jobs');
  if (mode === 'direct') return false;
  if (mode === 'job') {
    if (!hasJobs) throw new ArcpError('UNIMPLEMENTED', 'Durable jobs were not negotiated');
    if (session.mode === 'stateless')
      throw new ArcpError('FAILED_PRECONDITION', 'A stateless session cannot start durable jobs');
    return true;
  }
  const isRequested = options.durable ?? command.type !== 'tool.invoke';
  return isRequested && hasJobs && session.mode !== 'stateless';
}

function streamsOf({ capabilities }: Session): JobSpec['streams'] {
  if (!can(capabilities, 'streaming')) return 'none';
  return can(capabilities, 'binary_streams') ? 'all' : 'text';
}

function timeoutOf({ payload }: StartingCommand, { timeoutMs }: ToolOptions, now: number): number | undefined {
  const byDeadline =
    'deadline' in payload && typeof payload.deadline === 'string'
      ? Math.max(0, Date.parse(payload.deadline) - now)
      : undefined;
  const requested = typeof payload.timeout_ms === 'number' ? payload.timeout_ms : byDeadline;
  return shorter(requested, timeoutMs);
}

function retryOf({ type, payload }: StartingCommand, { retry }: ToolOptions): ResolvedRetry {
  if (retry !== undefined || type === 'agent.delegate' || payload.retry === undefined) return resolveRetry(retry);
  const { max_attempts = 1, backoff_ms, factor, max_backoff_ms } = payload.retry;
  return resolveRetry({
    maxAttempts: Math.min(MAX_REQUESTED_ATTEMPTS, max_attempts),
    backoffMs: backoff_ms,
    factor,
    maxBackoffMs: max_backoff_ms,
  });
}

/** An operation with a key: of two calls with the same key, one is executed. */
interface Operation {
  readonly scope: string;
  readonly key: string;
  readonly digest: string;
}

function operationOf(principal: string, { command, kind, target, isDurable }: JobSpec): Operation | undefined {
  const key = command.payload.operation_key ?? (command as { readonly idempotency_key?: unknown }).idempotency_key;
  if (typeof key !== 'string') return undefined;
  const digest = sha256Hex(canonicalJson([isDurable, inputOf(command)]));
  return { scope: `operation:${principal}:${kind}:${target}`, key, digest };
}

/**
 * Returns the earlier job of an operation; `undefined` if a new one may start, since it failed retryably or is no longer stored.
 *
 * @throws ArcpError `ALREADY_EXISTS` if the key belongs to another call
 */
async function previousJob(store: ArcpStore, { key, digest }: Operation, { value }: StoredRecord) {
  const found = JSON.parse(value) as { readonly digest: string; readonly jobId: string };
  if (digest !== found.digest)
    throw new ArcpError(
      'ALREADY_EXISTS',
      `The operation key ${JSON.stringify(key)} belongs to a call with other arguments`,
    );
  const row = await store.readJob(found.jobId);
  const mayRetry = row?.state === 'failed' && statusOf(row).lastError?.retryable === true;
  return mayRetry ? undefined : row;
}
