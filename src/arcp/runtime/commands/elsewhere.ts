/** Commands for jobs that other runtimes run. */
import { ArcpError } from '../../protocol/errors.js';
import type { JobRow } from '../../store/store.js';
import type { ConnectionContext } from '../core.js';
import { isTerminal } from '../job/spec.js';
import { endOrder, type Order, ordersOf, orderTo } from '../mail/order.js';

/** The interval of looking whether the worker of the job still runs it. */
const CHECK_INTERVAL_MS = 1000;

/**
 * Gives an order to the runtime that runs a job, and waits until it is executed. The answer to the command is an event.
 *
 * @returns `false` if the order was not executed, since the job has changed meanwhile; then the command must be executed again
 * @throws ArcpError the error of the execution
 */
export async function orderElsewhere({ engine }: ConnectionContext, row: JobRow, order: Order): Promise<boolean> {
  const { mailbox, log, store, scheduler } = engine;
  const { jobId, attempt, leaseOwner } = row;
  if (leaseOwner === null) return false;
  const { id, records, jobs } = orderTo(row, { order, replyTo: mailbox.worker });
  let reply = mailbox.reply(id, CHECK_INTERVAL_MS);
  if ((await log.commit({ records, jobs })).outcome !== 'done') return false;
  // This process may be about to learn that it runs the job.
  scheduler.obeyOrders(jobId);
  for (;;) {
    const answer = await reply;
    if (answer?.error !== undefined) throw ArcpError.fromBody(answer.error);
    if (answer !== undefined || (await store.readRecord(ordersOf(jobId), id)) === undefined) return true;
    reply = mailbox.reply(id, CHECK_INTERVAL_MS);
    const current = await store.readJob(jobId);
    if (current?.attempt === attempt && !isTerminal(current.state)) continue;
    // The next attempt may execute the order first.
    return (await log.commit({ records: [endOrder(jobId, id)] })).outcome !== 'done';
  }
}
