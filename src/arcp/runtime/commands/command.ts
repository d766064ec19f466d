/** Commands that are carried out once, however often they arrive (spec 003: "Retried messages with the same id MUST NOT execute twice"). */
import { sha256Hex } from '../../../text/sha256.js';
import type { Envelope } from '../../protocol/envelope.js';
import { ArcpError } from '../../protocol/errors.js';
import { formatTimestamp } from '../../protocol/ids.js';
import { canonicalJson } from '../../protocol/json.js';
import type { ArcpStore, CommitResult, JobRow, RecordChange, StoredRecord } from '../../store/store.js';
import { CHECKPOINTS, type KeptCheckpoint } from '../context/steps.js';
import type { ConnectionContext } from '../core.js';
import { traceBelow } from '../events/message.js';
import { isIdle, isTerminal } from '../job/spec.js';
import { type Capability, can } from '../sessions/session.js';

interface KeptCommand {
  readonly digest: string;
  /** The message that answered it, if it is an event; else its text is in `answer`. */
  readonly answerId?: string | undefined;
  readonly answer?: string | undefined;
  readonly jobId?: string | undefined;
}

function commandsOf(principal: string): string {
  return `command:${principal}`;
}

/** Identifies the contents of a command, whenever and by whom it was sent. */
function digestOfCommand({ type, job_id, stream_id, payload }: Envelope): string {
  return sha256Hex(canonicalJson([type, job_id, stream_id, payload]));
}

export function carriedOut(
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

/** Records a command in the commit that carries it out; the commit conflicts if it was carried out before. */
export function commandRecord(
  principal: string,
  command: Envelope,
  answer: Omit<KeptCommand, 'digest'>,
  owner?: string,
): RecordChange {
  const kept: KeptCommand = { digest: digestOfCommand(command), ...answer };
  return { scope: commandsOf(principal), key: command.id, value: JSON.stringify(kept), expect: 0, owner };
}

/** What a command that is acknowledged adds to the commit that carries it out. */
export function acknowledgement(
  connection: ConnectionContext,
  message: Envelope,
  jobId?: string,
  details?: Readonly<Record<string, unknown>>,
) {
  const { engine, session } = connection;
  const ack = engine.log.event(ackOf(connection, message, 'accepted', details));
  return { events: [ack], records: [commandRecord(session.principal, message, { answerId: ack.id }, jobId)] };
}

/** Returns the first answer of a command, if it is still stored. @throws ArcpError `ALREADY_EXISTS` if the id was another command's */
export async function formerAnswer(
  store: ArcpStore,
  command: Envelope,
  found: StoredRecord,
): Promise<string | undefined> {
  const { digest, answer, answerId } = JSON.parse(found.value) as KeptCommand;
  if (digest !== digestOfCommand(command))
    throw new ArcpError('ALREADY_EXISTS', `The id ${command.id} stands for another command`);
  if (answer !== undefined || answerId === undefined) return answer;
  return (await store.findEvent(answerId))?.body;
}

export interface CommandResult {
  /** The record of the command if it was carried out before. */
  readonly former?: StoredRecord | undefined;
  /** The answer, if it is not an event. */
  readonly answer?: string | undefined;
}

/** Interprets a commit that changed an idle job; `again` retries with the job as it is now. */
export async function resultOf(
  result: CommitResult,
  again: (row: JobRow) => Promise<CommandResult>,
): Promise<CommandResult> {
  if (result.outcome === 'conflict') return { former: result.found };
  if (result.outcome !== 'fenced') return {};
  if (result.found !== undefined && isIdle(result.found.state)) return again(result.found);
  throw new ArcpError('ABORTED', 'The job was begun meanwhile');
}

export function assertLive({ state }: JobRow): void {
  if (isTerminal(state)) throw new ArcpError('FAILED_PRECONDITION', `The job is ${state}`, { details: { state } });
}

export function assertNegotiated({ session }: ConnectionContext, capability: Capability, what: string): void {
  if (!can(session.capabilities, capability)) throw new ArcpError('UNIMPLEMENTED', `${what} not negotiated`);
}

export async function jobOfCommand(
  { engine, session }: ConnectionContext,
  commandId: string,
): Promise<string | undefined> {
  const command = await engine.store.readRecord(commandsOf(session.principal), commandId);
  return command && (JSON.parse(command.value) as KeptCommand).jobId;
}

/** @throws ArcpError `NOT_FOUND`: the same error for the job of another principal and for none */
export async function ownJob({ engine, session }: ConnectionContext, jobId: string): Promise<JobRow> {
  const row = await engine.store.readJob(jobId);
  if (row === undefined || row.principal !== session.principal)
    throw new ArcpError('NOT_FOUND', 'There is no such job');
  return row;
}

/** @throws ArcpError `NOT_FOUND` for a checkpoint of another principal, or of another job than the message names */
export async function ownCheckpoint(connection: ConnectionContext, checkpointId: string, jobId: string | undefined) {
  const record = await connection.engine.store.readRecord(CHECKPOINTS, checkpointId);
  const kept = record && (JSON.parse(record.value) as KeptCheckpoint);
  if (kept === undefined || (jobId !== undefined && jobId !== kept.jobId))
    throw new ArcpError('NOT_FOUND', 'There is no such checkpoint', { details: { checkpoint_id: checkpointId } });
  return { kept, row: await ownJob(connection, kept.jobId), value: record!.value };
}
