/** Calls that are made once for all attempts at a job. */
import { ArcpError } from '../protocol/errors.js';
import type { JobContext } from '../runtime/types.js';
import type { McpConnection } from './connection.js';
import { lostError, notConnected } from './errors.js';

/**
 * Calls a tool for one attempt of a job only, since MCP has no operation keys. Of an attempt that was lost, the outcome is unknown.
 *
 * @throws ArcpError `ABORTED` if an earlier attempt may have called it
 */
export async function callOnce<T>(connection: McpConnection, context: JobContext, call: () => Promise<T>): Promise<T> {
  // Attempts at direct calls do not outlive the process.
  if (context.jobId === undefined) return call();
  if (!connection.isOpen) throw notConnected();
  const { attempt, signal, step } = context;
  const unsent = (by: number, isUnsent: boolean): Promise<boolean> => step(`mcp.unsent.${by}`, () => isUnsent);
  for (let last = 0; last !== attempt; ) {
    last = await step(`mcp.call.${last}`, () => attempt);
    if (last !== attempt && !(await unsent(last, false)))
      throw lostError(new Error(`attempt ${last} may have called the tool, which is not idempotent`), false);
  }
  try {
    return await call();
  } catch (thrown) {
    // Errors of calls that may have been executed are not retryable. An interrupted call may have been, too.
    if (!signal.aborted && thrown instanceof ArcpError && thrown.retryable) await unsent(attempt, true);
    throw thrown;
  }
}
