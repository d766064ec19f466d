/** Commands that start work: a tool, a workflow, an agent (spec 003, "Execution Messages", "Invocation Flow"). */
import { ArcpError } from '../../protocol/errors.js';
import { newId } from '../../protocol/ids.js';
import type { JobRow } from '../../store/store.js';
import { traceBelow } from '../compose.js';
import type { ToolOptions, Work } from '../contract.js';
import type { Core, Engine } from '../core.js';
import { inputOf } from '../jobs/live-job.js';
import { type ResolvedRetry, resolveRetry } from '../jobs/retry.js';
import { type JobSpec, NEW_STATUS, type StartingCommand } from '../jobs/spec.js';
import { Voice } from '../jobs/voice.js';
import { CAPABILITIES, can } from '../negotiate.js';
import type { Session } from '../session.js';
import type { Commanded } from './commanded.js';
import { commandRecord } from './once.js';

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
  const spec = specFor(session, command, work);
  const { scheduler, log, store } = engine;
  const { settings } = core;
  const jobId = newId('job');
  const now = settings.now();
  const begins = scheduler.reserve();
  let begun: JobRow | undefined;
  try {
    const position = begins ? undefined : await store.countQueued([work.options.queue ?? 'default']);
    if (position !== undefined && position >= settings.maxJobs)
      throw new ArcpError('RESOURCE_EXHAUSTED', 'Too many jobs are waiting', { details: { queued: position } });
    const row: JobRow = {
      ...{ jobId, sessionId: session.id, principal: session.principal },
      ...{ queue: work.options.queue ?? 'default', priority: work.options.priority ?? 0, runAfter: now },
      ...{ state: begins ? 'running' : 'queued', attempt: begins ? 1 : 0 },
      ...{ leaseOwner: begins ? scheduler.worker : null, leaseUntil: begins ? scheduler.leaseUntil() : null },
      ...{ spec: JSON.stringify(spec), status: JSON.stringify(NEW_STATUS), createdAt: now, endedAt: null },
    };
    const voice = new Voice(log, row, spec, settings.now);
    const accepted = voice.accepted(begins ? 'accepted' : 'queued', position);
    const records = [commandRecord(session.principal, command, { answerId: accepted.id, jobId }, jobId)];
    const events = [accepted, ...(begins ? voice.started(1, { worker: scheduler.worker }) : [])];
    const result = await log.commit({ records, newJobs: [row], events });
    if (result.outcome === 'conflict') return { former: result.found };
    begun = row;
    return {};
  } finally {
    if (!begins) scheduler.wake();
    else if (begun === undefined) scheduler.release();
    else scheduler.begin(begun);
  }
}

async function findWork(core: Core, session: Session, command: StartingCommand): Promise<Work> {
  const [kind, name] = targetOf(command);
  const work = core.find(kind, name);
  if (work === undefined) throw new ArcpError('NOT_FOUND', `There is no ${kind} ${JSON.stringify(name)}`);
  if (session.trust === 'untrusted' && work.options.isPublic !== true)
    throw new ArcpError(
      'PERMISSION_DENIED',
      `Sessions that are not trusted do not use ${kind} ${JSON.stringify(name)}`,
    );
  const judged = await work.options.input?.safeParseAsync(inputOf({ command } as JobSpec));
  if (judged?.success === false) {
    const issues = judged.error.issues.map(({ path, message }) => ({ path: path.map(String).join('.'), message }));
    const said = issues.map(({ path, message }) => (path === '' ? message : `${path}: ${message}`)).join('; ');
    throw new ArcpError('INVALID_ARGUMENT', said, { details: { issues } });
  }
  return work;
}

function targetOf(command: StartingCommand): [Work['kind'], string] {
  if (command.type === 'tool.invoke') return ['tool', command.payload.tool];
  if (command.type === 'workflow.start') return ['workflow', command.payload.workflow];
  return ['agent', command.payload.target];
}

function specFor(session: Session, command: StartingCommand, { kind, name, options }: Work): JobSpec {
  const timeoutMs = timeoutOf(command, options);
  return {
    ...{ kind, target: name, isDurable: isDurable(session, command, options), command, trace: traceBelow(command) },
    ...{ trust: session.trust, retry: retryOf(command, options), streams: streamsOf(session) },
    ...(timeoutMs === undefined ? {} : { timeoutMs }),
  };
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
function timeoutOf({ payload }: StartingCommand, { timeoutMs }: ToolOptions): number | undefined {
  const wanted = 'timeout_ms' in payload && typeof payload.timeout_ms === 'number' ? payload.timeout_ms : undefined;
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
