/** Commands that are executed once, however often they arrive (spec 003: "Retried messages with the same id MUST NOT execute twice"). */
import type { Envelope } from '../../protocol/envelope.js';
import { ArcpError } from '../../protocol/errors.js';
import { formatTimestamp } from '../../protocol/ids.js';
import { canonicalJson } from '../../protocol/json.js';
import type { CommitResult, JobRow, RecordChange, StoredRecord } from '../../store/store.js';
import { CHECKPOINTS, type StoredCheckpoint } from '../context/steps.js';
import type { ConnectionContext } from '../core.js';
import { traceBelow } from '../events/message.js';
import { isIdle, isTerminal } from '../job/spec.js';
import type { CommandHeader } from '../mail/order.js';
import { type Capability, can } from '../sessions/session.js';

interface StoredCommand {
  readonly digest: string;
  /** The message that answered it, if that is an event; otherwise `answer` is its text. */
  readonly answerId?: string | undefined;
  readonly answer?: string | undefined;
  readonly jobId?: string | undefined;
}

function commandsOf(principal: string): string {
  return `command:${principal}`;
}

/** Returns a digest of the contents of a command, which does not depend on its sender and time. */
function digestOfCommand({ core }: ConnectionContext, { type, job_id, stream_id, payload }: Envelope): string {
  return core.settings.sha256Hex(canonicalJson([type, job_id, stream_id, payload]));
}

export function findCommand(
  { engine, session }: ConnectionContext,
  { id }: Pick<Envelope, 'id'>,
): Promise<StoredRecord | undefined> {
  return engine.store.readRecord(commandsOf(session.principal), id);
}

export function ackOf(
  { session, core }: ConnectionContext,
  message: Envelope,
  status: 'accepted' | 'done',
  details?: Readonly<Record<string, unknown>>,
) {
  const received_at = formatTimestamp(core.settings.now());
  return {
    type: 'ack' as const,
    sessionId: session.id,
    correlationId: message.id,
    trace: traceBelow(message),
    payload: { ack_for: message.id, received_at, status, details },
  };
}

/** Returns the header of a command that another runtime executes. */
export function headerOf(connection: ConnectionContext, command: Envelope): CommandHeader {
  const scope = commandsOf(connection.session.principal);
  return { scope, key: command.id, digest: digestOfCommand(connection, command) };
}

/** Returns the record of a command, which the commit that executes it adds. The commit conflicts if the command was executed before. */
export function commandRecord(
  connection: ConnectionContext,
  command: Envelope,
  answer: Omit<StoredCommand, 'digest'>,
  owner?: string,
): RecordChange {
  const { scope, key, digest } = headerOf(connection, command);
  const stored: StoredCommand = { digest, ...answer };
  return { scope, key, value: JSON.stringify(stored), expect: 0, owner };
}

/** Returns the acknowledgement of a command, for the commit that executes it. */
export function acknowledgement(
  connection: ConnectionContext,
  message: Envelope,
  jobId?: string,
  details?: Readonly<Record<string, unknown>>,
) {
  const { engine } = connection;
  const ack = engine.log.event(ackOf(connection, message, 'accepted', details));
  return { events: [ack], records: [commandRecord(connection, message, { answerId: ack.id }, jobId)] };
}

/** Returns the first answer of a command, if it is still stored. @throws ArcpError `ALREADY_EXISTS` if the id belongs to another command */
export async function previousAnswer(
  connection: ConnectionContext,
  command: Envelope,
  found: StoredRecord,
): Promise<string | undefined> {
  const { digest, answer, answerId } = JSON.parse(found.value) as StoredCommand;
  if (digest !== digestOfCommand(connection, command))
    throw new ArcpError('ALREADY_EXISTS', `The id ${command.id} belongs to another command; ids must be unique`);
  if (answer !== undefined || answerId === undefined) return answer;
  return (await connection.engine.store.findEvent(answerId))?.body;
}

export interface CommandResult {
  /** The record of the command if it was executed before. */
  readonly previous?: StoredRecord | undefined;
  /** The answer, if it is not an event. */
  readonly answer?: string | undefined;
}

/** Converts the result of a commit that changes an idle job; `retry` is called if the job has changed. */
export async function resultOf(
  result: CommitResult,
  retry: (row: JobRow) => Promise<CommandResult>,
): Promise<CommandResult> {
  if (result.outcome === 'conflict') return { previous: result.found };
  if (result.outcome !== 'fenced') return {};
  if (result.found !== undefined && isIdle(result.found.state)) return retry(result.found);
  throw new ArcpError('ABORTED', 'The job was started meanwhile; send the command retry with a new id');
}

export function assertLive({ state }: JobRow): void {
  if (isTerminal(state)) throw new ArcpError('FAILED_PRECONDITION', `The job is ${state}`, { details: { state } });
}

export function assertNegotiated({ session }: ConnectionContext, capability: Capability, subject: string): void {
  if (!can(session.capabilities, capability)) throw new ArcpError('UNIMPLEMENTED', `${subject} not negotiated`);
}

export async function jobOfCommand(
  { engine, session }: ConnectionContext,
  commandId: string,
): Promise<string | undefined> {
  const command = await engine.store.readRecord(commandsOf(session.principal), commandId);
  return command && (JSON.parse(command.value) as StoredCommand).jobId;
}

/** Reads a job of the principal. @throws ArcpError `NOT_FOUND` if the job does not exist or belongs to another principal */
export async function ownJob({ engine, session }: ConnectionContext, jobId: string): Promise<JobRow> {
  const row = await engine.store.readJob(jobId);
  if (row === undefined || row.principal !== session.principal)
    throw new ArcpError('NOT_FOUND', 'The job does not exist');
  return row;
}

/** Reads a checkpoint of the principal. @throws ArcpError `NOT_FOUND` if there is none, or it belongs to another principal or job */
export async function ownCheckpoint(connection: ConnectionContext, checkpointId: string, jobId: string | undefined) {
  const record = await connection.engine.store.readRecord(CHECKPOINTS, checkpointId);
  const stored = record && (JSON.parse(record.value) as StoredCheckpoint);
  if (stored === undefined || (jobId !== undefined && jobId !== stored.jobId))
    throw new ArcpError('NOT_FOUND', 'The checkpoint does not exist', { details: { checkpoint_id: checkpointId } });
  return { stored, row: await ownJob(connection, stored.jobId), value: record!.value };
}
