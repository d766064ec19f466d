/** Calls as tasks of the server (MCP 2025-11-25, "Tasks"). A later attempt at a job waits for the task instead of calling the tool again. */
import { isRecord } from '../../text/guards.js';
import { ArcpError } from '../protocol/errors.js';
import type { JobContext } from '../runtime/types.js';
import type { McpConnection, Members, RequestOptions } from './connection.js';
import { isIdle, lostError } from './errors.js';
import { callOnce } from './once.js';

/** Returns whether calls of a tool are tasks: if the tool requires it, and for jobs if it allows it. */
export function isTask(connection: McpConnection, { execution }: Members, { jobId }: JobContext): boolean {
  const support = isRecord(execution) ? execution['taskSupport'] : undefined;
  return connection.supportsTasks && (support === 'required' || (support === 'optional' && jobId !== undefined));
}

/** Calls a tool as a task, and waits for its result. */
export async function callAsTask(
  connection: McpConnection,
  params: Members,
  context: JobContext,
  options: RequestOptions,
): Promise<Members> {
  const { signal, jobId, step } = context;
  let isNew = false;
  const create = async (): Promise<string> => {
    const { task } = await connection.request('tools/call', { ...params, task: {} }, options);
    isNew = true;
    if (isRecord(task) && typeof task['taskId'] === 'string') return task['taskId'];
    throw new ArcpError('INTERNAL', 'The MCP server has not created a task');
  };
  const createOnce = (): Promise<string> => (options.isRepeatable ? create() : callOnce(connection, context, create));
  const taskId = jobId === undefined ? await create() : await step('mcp.task', createOnce);
  try {
    return await resultOf(connection, taskId, signal);
  } catch (thrown) {
    // If the attempt was interrupted, the next one waits for the task.
    const isCancelled = signal.aborted && (signal.reason as ArcpError).code !== 'ABORTED';
    if (isCancelled) void connection.request('tasks/cancel', { taskId }, { isRepeatable: true }).catch(() => undefined);
    const isUnknown = thrown instanceof ArcpError && ['INVALID_ARGUMENT', 'NOT_FOUND'].includes(thrown.code);
    throw isUnknown && !isNew ? lostError(thrown, false) : thrown;
  }
}

/** Waits for the result of a task. A task that works longer than a request may last is awaited as long as the server knows it. */
async function resultOf(connection: McpConnection, taskId: string, signal: AbortSignal): Promise<Members> {
  const options = { signal, isRepeatable: true };
  for (;;)
    try {
      return await connection.request('tasks/result', { taskId }, options);
    } catch (thrown) {
      if (!isIdle(thrown)) throw thrown;
      await connection.request('tasks/get', { taskId }, options);
    }
}
