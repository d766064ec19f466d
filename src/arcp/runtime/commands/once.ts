/** Commands that are carried out once, however often they arrive (spec 003: "Retried messages with the same id MUST NOT execute twice"). */
import { sha256Hex } from '../../../text/sha256.js';
import type { Envelope } from '../../protocol/envelope.js';
import { ArcpError } from '../../protocol/errors.js';
import { canonicalJson } from '../../protocol/kept-json.js';
import { timestampOf } from '../../protocol/timestamp.js';
import type { ArcpStore, NewEvent, RecordChange, StoredRecord } from '../../store/store.js';
import { traceBelow } from '../compose.js';
import type { Carrier } from '../core.js';

/** What is kept of a command: what it was, and how it was answered. */
export interface KeptCommand {
  readonly digest: string;
  /** The message that answered it, where that is kept as an event; else its text. */
  readonly answerId?: string | undefined;
  readonly answer?: string | undefined;
  /** The work that it started, as the store knows it. */
  readonly jobId?: string | undefined;
}

export function commandsOf(principal: string): string {
  return `command:${principal}`;
}

/** Tells whether two messages are the same; when and by whom they were sent, and the order of members, make no difference. */
export function digestOfCommand({ type, job_id, stream_id, payload }: Envelope): string {
  return sha256Hex(canonicalJson([type, job_id, stream_id, payload]));
}

/** What is kept of a command that was carried out before; `undefined` where it was not. */
export function carriedOut({ engine, session }: Carrier, { id }: Envelope): Promise<StoredRecord | undefined> {
  return engine.store.readRecord(commandsOf(session.principal), id);
}

/** The answer of a command that says no more than that it was taken. */
export function acknowledged(
  { engine, session, core }: Carrier,
  message: Envelope,
  details?: Readonly<Record<string, unknown>>,
): NewEvent {
  const received_at = timestampOf(core.settings.now());
  return engine.log.event({
    ...{ type: 'ack', sessionId: session.id, correlationId: message.id, trace: traceBelow(message) },
    payload: { ack_for: message.id, received_at, status: 'accepted', ...(details === undefined ? {} : { details }) },
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
