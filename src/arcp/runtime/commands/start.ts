/**
 * Commands that start work: a tool, a workflow, an agent (spec 003, "Execution Messages", "Invocation Flow"). Operations with a key are
 * carried out once ("Delivery Semantics": "idempotent tools with explicit operation keys").
 */
import { sha256Hex } from '../../../text/sha256.js';
import { ArcpError } from '../../protocol/errors.js';
import { canonicalJson } from '../../protocol/json.js';
import type { ArcpStore, JobRow, RecordChange, StoredRecord } from '../../store/store.js';
import { targetOf } from '../context/delegation.js';
import type { ConnectionContext, Core } from '../core.js';
import type { Engine } from '../engine/engine.js';
import { beginJob } from '../engine/jobs.js';
import { traceBelow } from '../events/message.js';
import { JobMessages } from '../job/messages.js';
import {
  inputOf,
  type JobSpec,
  type ResolvedRetry,
  resolveRetry,
  type StartingCommand,
  specOf,
  statusOf,
} from '../job/spec.js';
import { can, type Session } from '../sessions/session.js';
import type { ToolOptions, Work } from '../types.js';
import { inlineWorkflow } from '../workflow.js';
import { checkCall } from '../works.js';
import { type CommandResult, commandRecord } from './command.js';

/** Most attempts that a client may request if the tool has no policy. */
const MOST_ATTEMPTS = 10;

/** Accepts a command: the job is stored, and starts at once if there is room. */
export async function startWork(
  { core, engine, session }: ConnectionContext,
  command: StartingCommand,
): Promise<CommandResult> {
  if (core.isDraining()) throw new ArcpError('UNAVAILABLE', 'The runtime is about to end');
  const work = await findWork(core, session, command);
  const spec = specFor(session, command, work, core.settings.now());
  const operation = Operation.of(session.principal, spec);
  for (let place = await operation?.find(engine.store); ; ) {
    const former = place && (await operation?.former(engine.store, place));
    if (former !== undefined && spec.isDurable) return tellAgain(engine, session, command, former);
    const result = await beginJob(engine, {
      sessionId: session.id,
      principal: session.principal,
      options: work.options,
      spec: former === undefined ? spec : { ...spec, follows: former.row.jobId },
      maxQueued: core.settings.maxJobs,
      with: ({ jobId, told }) => {
        const record = commandRecord(session.principal, command, { answerId: told.id, jobId }, jobId);
        const isFirst = operation !== undefined && former === undefined;
        return { records: isFirst ? [record, operation.record(jobId, place)] : [record] };
      },
    });
    if (result.outcome !== 'conflict') return {};
    if (operation?.isAt(result.scope) !== true) return { former: result.found };
    place = result.found;
  }
}

/** Answers with the job that was started under the same key. */
async function tellAgain(
  { log }: Engine,
  session: Session,
  command: StartingCommand,
  { row, spec }: Former,
): Promise<CommandResult> {
  const messages = new JobMessages(log, { jobId: row.jobId, sessionId: session.id }, { ...spec, command });
  const { body } = messages.duplicate(row.state === 'queued' ? 'queued' : 'accepted', row.createdAt);
  const result = await log.commit({
    records: [commandRecord(session.principal, command, { answer: body }, row.jobId)],
  });
  return result.outcome === 'conflict' ? { former: result.found } : { answer: body };
}

async function findWork(core: Core, { trust }: Session, command: StartingCommand): Promise<Work> {
  const [kind, name] = targetOf(command);
  const registered = core.find(kind, name);
  const inline = inlineWorkflow(command);
  if (registered !== undefined && inline !== undefined)
    throw new ArcpError('INVALID_ARGUMENT', `The workflow ${JSON.stringify(name)} has steps of its own`);
  const work = registered ?? inline;
  await checkCall(work, { kind, name, trust, input: inputOf(command) });
  return work!;
}

function specFor(session: Session, command: StartingCommand, { kind, name, options }: Work, now: number): JobSpec {
  const timeoutMs = timeoutOf(command, options, now);
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
    ...contextOf(command),
    timeoutMs,
  };
}

function contextOf(command: StartingCommand): { readonly contextId?: string } {
  const named = command.type === 'agent.delegate' ? command.payload.context?.shared_context_id : undefined;
  return named === undefined ? {} : { contextId: named };
}

/** The client's choice of mode is obeyed or refused. */
function isDurable(session: Session, command: StartingCommand, options: ToolOptions): boolean {
  const mode = command.type === 'tool.invoke' ? (command.payload.mode ?? 'auto') : 'auto';
  const hasJobs = can(session.capabilities, 'durable_jobs');
  if (mode === 'direct') return false;
  if (mode === 'job') {
    if (!hasJobs) throw new ArcpError('UNIMPLEMENTED', 'Durable jobs were not negotiated');
    if (session.mode === 'stateless') throw new ArcpError('FAILED_PRECONDITION', 'A stateless session has no jobs');
    return true;
  }
  const wants = options.durable ?? command.type !== 'tool.invoke';
  return wants && hasJobs && session.mode !== 'stateless';
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
  const wanted = typeof payload.timeout_ms === 'number' ? payload.timeout_ms : byDeadline;
  if (wanted === undefined || timeoutMs === undefined) return wanted ?? timeoutMs;
  return Math.min(wanted, timeoutMs);
}

function retryOf({ type, payload }: StartingCommand, { retry }: ToolOptions): ResolvedRetry {
  if (retry !== undefined || type === 'agent.delegate' || payload.retry === undefined) return resolveRetry(retry);
  const { max_attempts = 1, backoff_ms, factor, max_backoff_ms } = payload.retry;
  return resolveRetry({
    maxAttempts: Math.min(MOST_ATTEMPTS, max_attempts),
    backoffMs: backoff_ms,
    factor,
    maxBackoffMs: max_backoff_ms,
  });
}

interface KeptOperation {
  readonly digest: string;
  readonly jobId: string;
}

interface Former {
  readonly row: JobRow;
  readonly spec: JobSpec;
}

/** The operation key of a call: of two calls with the same one, one is carried out. */
class Operation {
  readonly #scope: string;
  readonly #key: string;
  readonly #digest: string;

  private constructor(scope: string, key: string, digest: string) {
    this.#scope = scope;
    this.#key = key;
    this.#digest = digest;
  }

  static of(principal: string, { command, kind, target, isDurable }: JobSpec): Operation | undefined {
    const key = command.payload.operation_key ?? (command as { readonly idempotency_key?: unknown }).idempotency_key;
    if (typeof key !== 'string') return undefined;
    const text = canonicalJson([isDurable, inputOf(command)]);
    return new Operation(`operation:${principal}:${kind}:${target}`, key, sha256Hex(text));
  }

  record(jobId: string, former?: StoredRecord): RecordChange {
    const kept: KeptOperation = { digest: this.#digest, jobId };
    const value = JSON.stringify(kept);
    return { scope: this.#scope, key: this.#key, value, expect: former?.version ?? 0, owner: jobId };
  }

  isAt(scope: string): boolean {
    return scope === this.#scope;
  }

  find(store: ArcpStore): Promise<StoredRecord | undefined> {
    return store.readRecord(this.#scope, this.#key);
  }

  /** Returns the work of the key, unless it may start anew: it failed retryably, or is not stored any more. */
  async former(store: ArcpStore, { value }: StoredRecord): Promise<Former | undefined> {
    const { digest, jobId } = JSON.parse(value) as KeptOperation;
    if (digest !== this.#digest)
      throw new ArcpError('ALREADY_EXISTS', `The operation key ${JSON.stringify(this.#key)} stands for another call`);
    const row = await store.readJob(jobId);
    if (row === undefined) return undefined;
    if (row.state === 'failed' && statusOf(row).lastError?.retryable === true) return undefined;
    return { row, spec: specOf(row) };
  }
}
