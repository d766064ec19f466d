/** Commands that are carried out once, however often they arrive (spec 003: "Retried messages with the same id MUST NOT execute twice"). */
import { sha256Hex } from '../../../text/sha256.js';
import type { Envelope } from '../../protocol/envelope.js';
import { ArcpError } from '../../protocol/errors.js';
import { timestampOf } from '../../protocol/ids.js';
import { canonicalJson } from '../../protocol/json.js';
import type { ArcpStore, CommitResult, JobRow, NewEvent, RecordChange, StoredRecord } from '../../store/store.js';
import type { ConnectionContext } from '../core.js';
import { traceBelow } from '../events/message.js';
import { isIdle, isTerminal } from '../job/spec.js';
import { can } from '../sessions/session.js';

/** What is kept of a command: what it was, and how it was answered. */
interface KeptCommand {
  readonly digest: string;
  /** The message that answered it, where that is kept as an event; else its text. */
  readonly answerId?: string | undefined;
  readonly answer?: string | undefined;
  /** The work that it started, as the store knows it. */
  readonly jobId?: string | undefined;
}

function commandsOf(principal: string): string {
  return `command:${principal}`;
}

/** Tells whether two messages are the same; when and by whom they were sent, and the order of members, make no difference. */
function digestOfCommand({ type, job_id, stream_id, payload }: Envelope): string {
  return sha256Hex(canonicalJson([type, job_id, stream_id, payload]));
}

/** What is kept of a command that was carried out before; `undefined` where it was not. */
export function carriedOut(
  { engine, session }: ConnectionContext,
  { id }: Pick<Envelope, 'id'>,
): Promise<StoredRecord | undefined> {
  return engine.store.readRecord(commandsOf(session.principal), id);
}

/** The answer of a command that says no more than that it was taken. */
export function acknowledged(
  { engine, session, core }: ConnectionContext,
  message: Envelope,
  details?: Readonly<Record<string, unknown>>,
): NewEvent {
  const received_at = timestampOf(core.settings.now());
  return engine.log.event({
    type: 'ack',
    sessionId: session.id,
    correlationId: message.id,
    trace: traceBelow(message),
    payload: { ack_for: message.id, received_at, status: 'accepted', details },
  });
}

/** The record of a command that is carried out by the commit that it is in, and was not before. */
export function commandRecord(
  principal: string,
  command: Envelope,
  answer: Omit<KeptCommand, 'digest'>,
  owner?: string,
): RecordChange {
  const kept: KeptCommand = { digest: digestOfCommand(command), ...answer };
  return { scope: commandsOf(principal), key: command.id, value: JSON.stringify(kept), expect: 0, owner };
}

/**
 * The answer of a command that was carried out before.
 *
 * @returns the message as it was sent; `undefined` where it is not kept any more
 * @throws ArcpError `ALREADY_EXISTS` when that was another command
 */
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

/** What became of a command. */
export interface CommandResult {
  /** It was carried out before: what is kept of that. Without it, it was carried out now, and is answered. */
  readonly former?: StoredRecord | undefined;
  /** What it is answered with, where that is no event. */
  readonly answer?: string | undefined;
}

/**
 * What became of a command whose commit changed a job that nobody works on.
 *
 * @param again tries again with the job as it is now: something of it was kept meanwhile, and is not to be written over
 * @throws ArcpError `ABORTED` when the job was begun meanwhile
 */
export async function resultOf(
  result: CommitResult,
  again: (row: JobRow) => Promise<CommandResult>,
): Promise<CommandResult> {
  if (result.outcome === 'conflict') return { former: result.found };
  if (result.outcome !== 'fenced') return {};
  if (result.found !== undefined && isIdle(result.found.state)) return again(result.found);
  throw new ArcpError('ABORTED', 'The job was begun meanwhile');
}

/** @throws ArcpError `FAILED_PRECONDITION` for a job that has ended */
export function assertLive({ state }: JobRow): void {
  if (isTerminal(state)) throw new ArcpError('FAILED_PRECONDITION', `The job is ${state}`, { details: { state } });
}

/** @throws ArcpError `UNIMPLEMENTED` */
export function assertNegotiated({ session }: ConnectionContext, capability: string, what: string): void {
  if (!can(session.capabilities, capability)) throw new ArcpError('UNIMPLEMENTED', `${what} not negotiated`);
}

/** The job that a command has started, by the id of the command. */
export async function jobOfCommand(
  { engine, session }: ConnectionContext,
  commandId: string,
): Promise<string | undefined> {
  const command = await engine.store.readRecord(commandsOf(session.principal), commandId);
  return command && (JSON.parse(command.value) as KeptCommand).jobId;
}

/** @throws ArcpError `NOT_FOUND`: somebody else's job is not to be told from none */
export async function ownJob({ engine, session }: ConnectionContext, jobId: string): Promise<JobRow> {
  const row = await engine.store.readJob(jobId);
  if (row === undefined || row.principal !== session.principal)
    throw new ArcpError('NOT_FOUND', 'There is no such job');
  return row;
}
