/** Execution of the orders of other runtimes to the jobs of this one. */
import { ArcpError, asArcpError } from '../../protocol/errors.js';
import type { RecordChange } from '../../store/store.js';
import type { CancelRequest } from '../job/attempt.js';
import { mailTo, type Reply } from '../mail/mail.js';
import { CANCELS, endOrder, executed, type Order, ordersOf, type StoredOrder } from '../mail/order.js';
import type { LiveJob } from './live-job.js';

/** Executes the cancellation of a job. @returns `false` if there is none */
export async function obeyCancellation(job: LiveJob): Promise<boolean> {
  const cancel = await job.log.store.readRecord(CANCELS, job.row.jobId);
  if (cancel !== undefined) job.cancel(JSON.parse(cancel.value) as CancelRequest);
  return cancel !== undefined;
}

/** Executes the cancellation and the orders of a job. @throws ArcpError `ABORTED` if the job was lost; the next attempt executes the rest */
export async function obeyOrders(job: LiveJob): Promise<void> {
  const { log, row } = job;
  await obeyCancellation(job);
  const orders = await log.store.listRecords(ordersOf(row.jobId), { limit: Number.POSITIVE_INFINITY });
  for (const { key: id, value } of orders) {
    const { order, replyTo } = JSON.parse(value) as StoredOrder;
    const end = (error?: Reply['error']): RecordChange[] => [
      endOrder(row.jobId, id),
      ...(replyTo === undefined ? [] : [mailTo(replyTo, { kind: 'reply', id, error })]),
    ];
    try {
      // An order that conflicts was executed or withdrawn before, or its command was.
      if (!(await execute(job, order, end()))) await job.outbox.tryAdd({ records: end() });
    } catch (thrown) {
      const error = asArcpError(thrown);
      if (error.code === 'ABORTED') throw error;
      await job.outbox.tryAdd({ records: end(error.toBody()) });
    }
  }
}

/** Executes an order. @returns `false` if it conflicted; then nothing was done */
async function execute(job: LiveJob, order: Order, end: readonly RecordChange[]): Promise<boolean> {
  const { row, host, outbox } = job;
  if (order.kind === 'checkpoint') {
    const { command, label, pauses } = order;
    const records = (answerId: string) => [executed(command, answerId, row.jobId), ...end];
    const isDone = await job.checkpointFor({ correlationId: command.key, records }, label);
    if (isDone && pauses) job.requeue({ reason: 'pause', as: 'paused', causedBy: command.key });
    return isDone;
  }
  if (order.kind === 'restart') {
    const { change, entry, request } = order;
    return job.restart(change, { ...entry, records: [...(entry.records ?? []), ...end] }, request);
  }
  if (!(await outbox.tryAdd({ records: end }))) return false;
  await host.streams.find(order.streamId, row.principal)?.cancel(new ArcpError('CANCELLED', order.reason));
  return true;
}
