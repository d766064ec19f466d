/** Shapes of A2A 1.0 that the binding writes and reads, as in the official SDK `@a2a-js/sdk`, which is not imported. */

/** `TaskState` of the SDK. */
export const TASK_STATE = { submitted: 1, completed: 3, failed: 4, canceled: 5, rejected: 7 } as const;

/** `Role` of the SDK. */
export const ROLE = { user: 1, agent: 2 } as const;

type Metadata = { [key: string]: unknown } | undefined;

/** A part of any kind. */
export interface AnyPart {
  /** The content: text, bytes or data. */
  readonly content?: { readonly $case: string; readonly value?: unknown } | undefined;
  /** The media type. */
  readonly mediaType: string;
  /** The envelope of a packet. */
  readonly metadata?: Metadata;
}

/** A part that carries a packet. */
export interface PacketPart {
  /** The packet. */
  content: { $case: 'text'; value: string };
  /** The media type of packets. */
  mediaType: string;
  /** Always empty. */
  filename: string;
  /** The envelope. */
  metadata: { [key: string]: unknown };
}

/** A message. */
export interface A2aMessage<Part = AnyPart> {
  /** The identifier of the message. */
  messageId: string;
  /** The identifier of the context, or an empty string. */
  contextId: string;
  /** The identifier of the task, or an empty string. */
  taskId: string;
  /** The role of the sender. */
  role: number;
  /** The parts, in order. */
  parts: Part[];
  /** Always `undefined`. */
  metadata: Metadata;
  /** Always empty. */
  extensions: string[];
  /** Always empty. */
  referenceTaskIds: string[];
}

interface TaskStatus {
  state: number;
  message: A2aMessage | undefined;
  timestamp: string | undefined;
}

export interface Task {
  id: string;
  contextId: string;
  status: TaskStatus | undefined;
  artifacts: unknown[];
  history: A2aMessage[];
  metadata: Metadata;
}

interface StatusUpdate {
  taskId: string;
  contextId: string;
  status: TaskStatus | undefined;
  metadata: Metadata;
}

/** The events that `AgentEvent` of the SDK creates, of which the binding publishes tasks and their status. */
type ExecutionEvent =
  | { kind: 'message'; data: A2aMessage }
  | { kind: 'task'; data: Task }
  | { kind: 'statusUpdate'; data: StatusUpdate }
  | { kind: 'artifactUpdate'; data: unknown };

/** `ExecutionEventBus` of the SDK. */
export interface EventBus {
  /** Publishes an event of a task. */
  publish(event: ExecutionEvent): void;
}

/** `RequestContext` of the SDK. */
export interface ExecutionContext {
  /** The identifier of the task. */
  readonly taskId: string;
  /** The identifier of the context. */
  readonly contextId: string;
  /** The message of the client. */
  readonly userMessage: A2aMessage;
  /** The task, if the message belongs to an existing one. */
  readonly task?: Task | undefined;
}

/** `AgentExecutor` of the SDK. */
export interface PacketExecutor {
  /** Dispatches the packets of a message, and ends the task with the answers. */
  readonly execute: (context: ExecutionContext, bus: EventBus) => Promise<void>;
  /** Dispatches no further packet of a task, and ends the task as "canceled". */
  readonly cancelTask: (taskId: string, bus: EventBus) => Promise<void>;
}

interface AnyRequest {
  readonly tenant?: string | undefined;
  readonly message?: A2aMessage | undefined;
  readonly configuration?: unknown;
  readonly metadata?: Metadata;
}

/** The part of the SDK's `Client` that `sendPackets` uses. */
export interface PacketClient {
  /** Sends a message and returns the answer or the task. */
  sendMessage(params: AnyRequest, options?: { signal?: AbortSignal }): Promise<A2aMessage | Task>;
}
