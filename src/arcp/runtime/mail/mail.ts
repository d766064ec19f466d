/**
 * Messages between the runtimes of one store. They are records, so that a commit can include them, and they outlive their sender and receiver.
 * The store tells the receiver of new ones; it also looks at intervals.
 */
import type { PayloadOf } from '../../protocol/catalogue.js';
import type { ErrorBody } from '../../protocol/errors.js';
import { newId } from '../../protocol/ids.js';
import type { RecordChange } from '../../store/store.js';
import type { UploadReport } from '../uploads/rows.js';

/** A message to a worker. A worker may receive it twice. */
export type Mail =
  /** A job that it runs has been cancelled, or has orders. */
  | { readonly kind: 'job'; readonly jobId: string }
  /** A permission request of a job that it runs was answered. */
  | { readonly kind: 'answer'; readonly requestId: string }
  /** The backpressure of a reader of a session that it does not serve, or of one stream. */
  | {
      readonly kind: 'backpressure';
      readonly sessionId: string;
      readonly principal: string;
      readonly streamId?: string | undefined;
      readonly payload: PayloadOf<'backpressure'>;
    }
  /** The readers of a session have gone. */
  | { readonly kind: 'disconnected'; readonly sessionId: string }
  /** Asks to reply once all messages of a session have been sent to its client, or the session is not connected. */
  | { readonly kind: 'drain'; readonly sessionId: string; readonly replyTo: string; readonly id: string }
  /** The reply to `drain`, or to an order. */
  | { readonly kind: 'reply'; readonly id: string; readonly error?: ErrorBody | undefined }
  /** A session that it serves was resumed elsewhere. */
  | { readonly kind: 'replaced'; readonly sessionId: string; readonly epoch: number }
  /** A job has read from a stream of a client that is connected to the worker. */
  | ({ readonly kind: 'upload' } & UploadReport);

export type Reply = Extract<Mail, { kind: 'reply' }>;

const MAIL = 'mail:';

/** Returns the scope of the messages to a worker. */
export const mailboxOf = (worker: string): string => `${MAIL}${worker}`;

/** Returns the worker to which the messages of a scope are sent. */
export const workerOfMailbox = (mailbox: string): string => mailbox.slice(MAIL.length);

/** Returns the record of a message, for the commit of which it tells. */
export function mailTo(worker: string, mail: Mail): RecordChange {
  return { scope: mailboxOf(worker), key: newId('msg'), value: JSON.stringify(mail) };
}
