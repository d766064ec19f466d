/** Commands that start work: a tool, a workflow, an agent (spec 003, "Execution Messages", "Invocation Flow"). */
import { ArcpError } from '../../protocol/errors.js';
import { targetOf } from '../children/child.js';
import { traceBelow } from '../compose.js';
import type { ToolOptions, Work } from '../contract.js';
import type { Core } from '../core.js';
import type { Engine } from '../engine-type.js';
import { beginJob } from '../jobs/begin.js';
import { inputOf } from '../jobs/input.js';
import { type ResolvedRetry, resolveRetry } from '../jobs/retry.js';
import type { JobSpec, StartingCommand } from '../jobs/spec.js';
import { Voice } from '../jobs/voice.js';
import { CAPABILITIES, can } from '../negotiate.js';
import type { Session } from '../session.js';
import { inlineWorkflow } from '../workflows/inline.js';
import { judge } from '../works.js';
import type { Commanded } from './commanded.js';
import { commandRecord } from './once.js';
import { type Former, Operation } from './operation.js';

/** Most attempts that a client may ask for where the tool says nothing of it. */
const MOST_ATTEMPTS = 10;

/**
 * Takes a command: the job is kept, and begins at once where there is room.
 *
 * @throws ArcpError on what cannot be taken
 */
export async function startWork(
  core: Core,
  engine: Engine,
  session: Session,
  command: StartingCommand,
): Promise<Commanded> {
  if (core.isDraining()) throw new ArcpError('UNAVAILABLE', 'The runtime is about to end');
  const work = await findWork(core, session, command);
  const spec = specFor(session, command, work, core.settings.now());
  const operation = Operation.of(session.principal, spec);
  for (let place = await operation?.find(engine.store); ; ) {
    const former = place && (await operation?.former(engine.store, place));
    if (former !== undefined && spec.isDurable) return tellAgain(engine, session, command, former);
    const result = await beginJob(engine, {
      ...{ sessionId: session.id, principal: session.principal, options: work.options },
      spec: former === undefined ? spec : { ...spec, follows: former.row.jobId },
      ...{ maxQueued: core.settings.maxJobs, now: engine.clock },
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

/** What was begun before under the same key, as the answer to another command. */
async function tellAgain(
  { log }: Engine,
  session: Session,
  command: StartingCommand,
  { row, spec }: Former,
): Promise<Commanded> {
  const voice = new Voice(log, { jobId: row.jobId, sessionId: session.id }, { ...spec, command });
  const { body } = voice.duplicate(row.state === 'queued' ? 'queued' : 'accepted', row.createdAt);
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
  await judge(work, { kind, name, trust, input: inputOf(command) });
  return work!;
}

function specFor(session: Session, command: StartingCommand, { kind, name, options }: Work, now: number): JobSpec {
  const timeoutMs = timeoutOf(command, options, now);
  return {
    ...{ kind, target: name, isDurable: isDurable(session, command, options), command, trace: traceBelow(command) },
    ...(session.limits === undefined ? {} : { limits: session.limits }),
    ...{ trust: session.trust, retry: retryOf(command, options), streams: streamsOf(session) },
    ...{ mayHandOff: can(session.capabilities, CAPABILITIES.agentHandoff), wantsValue: session.wantsValue },
    ...contextOf(command),
    ...(timeoutMs === undefined ? {} : { timeoutMs }),
  };
}

/** The shared context that the client names. */
function contextOf(command: StartingCommand): { readonly contextId?: string } {
  const named = command.type === 'agent.delegate' ? command.payload.context?.shared_context_id : undefined;
  return named === undefined ? {} : { contextId: named };
}

/** Whether it becomes a job. What the client asks for is done or refused, and never done otherwise. */
function isDurable(session: Session, command: StartingCommand, options: ToolOptions): boolean {
  const mode = command.type === 'tool.invoke' ? (command.payload.mode ?? 'auto') : 'auto';
  const hasJobs = can(session.capabilities, CAPABILITIES.durableJobs);
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
  if (!can(capabilities, CAPABILITIES.streaming)) return 'none';
  return can(capabilities, CAPABILITIES.binaryStreams) ? 'all' : 'text';
}

/** The shorter of what both want. */
function timeoutOf({ payload }: StartingCommand, { timeoutMs }: ToolOptions, now: number): number | undefined {
  const byDeadline =
    'deadline' in payload && typeof payload.deadline === 'string'
      ? Math.max(0, Date.parse(payload.deadline) - now)
      : undefined;
  const wanted = typeof payload.timeout_ms === 'number' ? payload.timeout_ms : byDeadline;
  if (wanted === undefined || timeoutMs === undefined) return wanted ?? timeoutMs;
  return Math.min(wanted, timeoutMs);
}

/** What the tool says counts; where it says nothing, the client may ask for some attempts. */
function retryOf({ type, payload }: StartingCommand, { retry }: ToolOptions): ResolvedRetry {
  if (retry !== undefined || type === 'agent.delegate' || payload.retry === undefined) return resolveRetry(retry);
  const { max_attempts = 1, backoff_ms, factor, max_backoff_ms } = payload.retry;
  return resolveRetry({
    ...{ maxAttempts: Math.min(MOST_ATTEMPTS, max_attempts), backoffMs: backoff_ms },
    ...{ factor, maxBackoffMs: max_backoff_ms },
  });
}
