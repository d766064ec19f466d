import { within } from '../../../async/abort.js';
import { deferred, notifyListener } from '../../../async/listeners.js';
import type { Dispatcher } from '../../dispatch/dispatcher.js';
import { type PacketAnswer, refusedAnswer } from '../answer.js';
import { checkDispatcher, type DeliveryOptions, deliver, type Sender } from '../deliver.js';
import { answerPart, packetsIn, type ReceivedPart } from './parts.js';
import { type EventBus, type ExecutionContext, type PacketExecutor, ROLE, TASK_STATE } from './sdk-shapes.js';

/** Options of {@link packetExecutor}. */
export interface PacketExecutorOptions extends DeliveryOptions {
  /**
   * Returns the sender of a message, from the context that the SDK passes to the executor; `null` refuses it. If it throws, the message is refused.
   * @default every client is accepted, without a name
   */
  readonly authenticate?: ((context: ExecutionContext) => Sender | null | Promise<Sender | null>) | undefined;
}

/** Milliseconds for the packet that is being handled when its task is cancelled. */
const CANCEL_GRACE_MS = 1000;

interface RunningTask {
  isCancelled: boolean;
  readonly cancel: () => Promise<void>;
}

/**
 * Creates an agent executor for the A2A SDK that passes packets to a dispatcher. Each part of the type `application/aacp` must be exactly one
 * packet; they are dispatched in order, each on its own. Other parts are not read. The message of the final status has one part of data per
 * packet, a {@link PacketAnswer}. The task is completed if all packets were handled, rejected if none was, and otherwise failed.
 *
 * Cancelling a task dispatches no further packets; a handler that runs already is not interrupted.
 *
 * Source: draft-mackay-aacp-01, sections 7, 11 and 15.
 *
 * @throws TypeError if an option is invalid
 * @example
 * new DefaultRequestHandler(card, new InMemoryTaskStore(), packetExecutor(dispatcher));
 */
export function packetExecutor(dispatcher: Dispatcher<unknown>, options: PacketExecutorOptions = {}): PacketExecutor {
  checkDispatcher(dispatcher);
  const { authenticate, onError } = options;
  if (authenticate !== undefined && typeof authenticate !== 'function')
    throw new TypeError('authenticate must be a function');
  const tasks = new Map<string, Set<RunningTask>>();

  const senderOf = async (context: ExecutionContext): Promise<Sender | null | undefined> => {
    try {
      return await authenticate?.(context);
    } catch (thrown) {
      notifyListener(() => onError?.(thrown, ''));
      return null;
    }
  };

  const answerTo = async (part: ReceivedPart, sender: Sender | null | undefined): Promise<PacketAnswer> => {
    if (sender === null) return refusedAnswer('unauthenticated');
    if (part.packet === null) return refusedAnswer(part.reason);
    const context = { actor: sender?.actor, data: sender?.data, envelope: part.envelope };
    return deliver(dispatcher, part.packet, context, { onError });
  };

  const execute = async (context: ExecutionContext, bus: EventBus): Promise<void> => {
    const { taskId, contextId, userMessage, task } = context;
    const answers: PacketAnswer[] = [];
    const { promise: ended, resolve: end } = deferred();
    let isPublished = false;
    const publish = (state: number): void => {
      if (isPublished) return;
      isPublished = true;
      publishStatus(bus, { taskId, contextId }, state, answers);
    };
    const running: RunningTask = {
      isCancelled: false,
      async cancel() {
        running.isCancelled = true;
        await within(CANCEL_GRACE_MS, ended);
        publish(TASK_STATE.canceled);
      },
    };
    const ofTask = tasks.get(taskId) ?? new Set();
    tasks.set(taskId, ofTask.add(running));
    bus.publish({ kind: 'task', data: task ?? newTask(context) });
    try {
      const sender = await senderOf(context);
      const parts = packetsIn(userMessage.parts);
      if (parts.length === 0) answers.push(refusedAnswer('no-packet'));
      for (const part of parts)
        answers.push(running.isCancelled ? refusedAnswer('cancelled') : await answerTo(part, sender));
      // The events of a task end with its execution.
      publish(running.isCancelled ? TASK_STATE.canceled : stateOf(answers));
    } finally {
      ofTask.delete(running);
      if (ofTask.size === 0) tasks.delete(taskId);
      end();
    }
  };

  const cancelTask = async (taskId: string, bus: EventBus): Promise<void> => {
    const running = [...(tasks.get(taskId) ?? [])];
    if (running.length === 0) publishStatus(bus, { taskId, contextId: '' }, TASK_STATE.canceled, []);
    await Promise.all(running.map(({ cancel }) => cancel()));
  };

  return { execute, cancelTask };
}

function stateOf(answers: readonly PacketAnswer[]): number {
  if (answers.every(({ ok }) => ok)) return TASK_STATE.completed;
  const wasHandled = answers.some((answer) => answer.ok || HANDLED.has(answer.reason));
  return wasHandled ? TASK_STATE.failed : TASK_STATE.rejected;
}

/** Reasons with which a handler was called. */
const HANDLED: ReadonlySet<string> = new Set(['failed', 'bad-answer']);

type TaskIds = Pick<ExecutionContext, 'taskId' | 'contextId'>;

function publishStatus(bus: EventBus, ids: TaskIds, state: number, answers: readonly PacketAnswer[]): void {
  const message = {
    messageId: `${ids.taskId}-answer`,
    ...ids,
    role: ROLE.agent,
    parts: answers.map(answerPart),
    metadata: undefined,
    extensions: [],
    referenceTaskIds: [],
  };
  const status = { state, message: answers.length === 0 ? undefined : message, timestamp: new Date().toISOString() };
  bus.publish({ kind: 'statusUpdate', data: { ...ids, status, metadata: undefined } });
}

function newTask({ taskId, contextId, userMessage }: ExecutionContext) {
  const status = { state: TASK_STATE.submitted, message: undefined, timestamp: new Date().toISOString() };
  return { id: taskId, contextId, status, artifacts: [], history: [userMessage], metadata: undefined };
}
