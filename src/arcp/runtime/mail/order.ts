/** Commands for a job that another runtime runs. They stay with the job, so that a later attempt finds those of a lost one. */
import { newId } from '../../protocol/ids.js';
import type { Commit, JobRow, NewEvent, RecordChange } from '../../store/store.js';
import type { RequeueRequest } from '../job/attempt.js';
import type { OutboxEntry } from '../job/outbox.js';
import type { JobStatus } from '../job/spec.js';
import { mailTo } from './mail.js';

/** The scope of cancellations by the ids of their jobs. Each stays until its job is removed. */
export const CANCELS = 'cancel';

export const ordersOf = (jobId: string): string => `order:${jobId}`;

/** The record of a command, without the id of its answer. */
export interface CommandHeader {
  readonly scope: string;
  readonly key: string;
  readonly digest: string;
}

export type Order =
  | {
      readonly kind: 'checkpoint';
      readonly command: CommandHeader;
      readonly label?: string | undefined;
      readonly pauses: boolean;
    }
  /** Changes the status of the job, and starts another attempt. */
  | {
      readonly kind: 'restart';
      readonly change: Partial<JobStatus>;
      readonly entry: Pick<OutboxEntry, 'events' | 'records'>;
      readonly request: RequeueRequest;
    }
  | { readonly kind: 'cancel-stream'; readonly streamId: string; readonly reason: string };

export interface StoredOrder {
  readonly order: Order;
  /** The worker to which the end of the execution is reported. */
  readonly replyTo?: string | undefined;
}

/** Returns the changes that give an order to the worker of a job. They are fenced if another attempt has started. */
export function orderTo(
  { jobId, attempt, leaseOwner }: JobRow,
  stored: StoredOrder,
): Pick<Commit, 'jobs'> & { readonly id: string; readonly records: readonly RecordChange[] } {
  const id = newId('msg');
  const record = { scope: ordersOf(jobId), key: id, value: JSON.stringify(stored), expect: 0, owner: jobId };
  return { id, records: [record, mailTo(leaseOwner!, { kind: 'job', jobId })], jobs: [{ jobId, attempt, set: {} }] };
}

/** Returns the change that ends an order. It conflicts if the order was executed or withdrawn before. */
export function endOrder(jobId: string, id: string): RecordChange {
  return { scope: ordersOf(jobId), key: id, value: null, expect: 1 };
}

/** Returns the record of a command that was executed. */
export function executed({ scope, key, digest }: CommandHeader, answer: NewEvent['id'], owner: string): RecordChange {
  return { scope, key, value: JSON.stringify({ digest, answerId: answer }), expect: 0, owner };
}
