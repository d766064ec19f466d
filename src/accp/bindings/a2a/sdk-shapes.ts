/** Shapes of A2A 1.0 that the binding writes and reads, as in the official SDK `@a2a-js/sdk`, which is not imported. */

/** `TaskState` of the SDK. */
export const TASK_STATE = {
  submitted: 1,
  working: 2,
  completed: 3,
  failed: 4,
  canceled: 5,
  inputRequired: 6,
  rejected: 7,
  authRequired: 8,
} as const;

/** Final states of a task. */
export const TERMINAL: ReadonlySet<number> = new Set([
  TASK_STATE.completed,
  TASK_STATE.failed,
  TASK_STATE.canceled,
  TASK_STATE.rejected,
]);

/** `Role` of the SDK. */
export const ROLE = { user: 1, agent: 2 } as const;

type Metadata = { [key: string]: unknown } | undefined;

/** A part that carries a frame as text. */
export interface TextPart {
  /** The frame, as a part of kind text. */
  content: { $case: 'text'; value: string };
  /** The media type of the frame. */
  mediaType: string;
  /** Always empty. */
  filename: string;
  /** Always `undefined`. */
  metadata: Metadata;
}

/** A part that carries a frame as a file, for A2A 0.3. */
export interface RawPart {
  /** The frame in UTF-8. */
  content: { $case: 'raw'; value: Uint8Array };
  /** The media type of the frame. */
  mediaType: string;
  /** Always empty. */
  filename: string;
  /** Always `undefined`. */
  metadata: Metadata;
}

/** A part of any kind, as received. */
export interface AnyPart {
  readonly content?: { readonly $case: string; readonly value?: unknown } | undefined;
  readonly mediaType: string;
}

export interface A2aMessage<Part = AnyPart> {
  messageId: string;
  contextId: string;
  taskId: string;
  role: number;
  parts: Part[];
  metadata: Metadata;
  extensions: string[];
  referenceTaskIds: string[];
}

interface TaskStatus {
  state: number;
  message: A2aMessage | undefined;
  timestamp: string | undefined;
}

export interface Artifact {
  artifactId: string;
  name: string;
  description: string;
  parts: AnyPart[];
  metadata: Metadata;
  extensions: string[];
}

export interface Task {
  id: string;
  contextId: string;
  status: TaskStatus | undefined;
  artifacts: Artifact[];
  history: A2aMessage[];
  metadata: Metadata;
}

interface StatusUpdate {
  taskId: string;
  contextId: string;
  status: TaskStatus | undefined;
  metadata: Metadata;
}

export interface ArtifactUpdate {
  taskId: string;
  contextId: string;
  artifact: Artifact | undefined;
  append: boolean;
  lastChunk: boolean;
  metadata: Metadata;
}

/** The events that `AgentEvent` of the SDK creates. */
type ExecutionEvent =
  | { kind: 'message'; data: A2aMessage }
  | { kind: 'task'; data: Task }
  | { kind: 'statusUpdate'; data: StatusUpdate }
  | { kind: 'artifactUpdate'; data: ArtifactUpdate };

export interface EventBus {
  publish(event: ExecutionEvent): void;
}

/** `RequestContext` of the SDK. */
export interface ExecutionContext {
  readonly taskId: string;
  readonly contextId: string;
  readonly userMessage: A2aMessage;
  /** The task, if the message belongs to an existing one. */
  readonly task?: Task | undefined;
}

/** `AgentExecutor` of the SDK. */
export interface FrameExecutor {
  /** Answers the frames of a message with events of its task. */
  readonly execute: (context: ExecutionContext, bus: EventBus) => Promise<void>;
  /** Aborts the work of a task, and ends the task as "canceled". */
  readonly cancelTask: (taskId: string, bus: EventBus) => Promise<void>;
}

/** The request of `sendMessage` and `sendMessageStream`. */
export interface MessageRequest<Part = AnyPart> {
  /** The tenant, or an empty string. */
  tenant: string;
  /** The message, whose parts carry the frames. */
  message: A2aMessage<Part>;
  /** The accepted media types and the mode of delivery. */
  configuration: {
    acceptedOutputModes: string[];
    taskPushNotificationConfig: undefined;
    returnImmediately: boolean;
  };
  /** Always `undefined`. */
  metadata: Metadata;
}

export interface StreamResponse {
  readonly payload?:
    | { readonly $case: 'task'; readonly value: Task }
    | { readonly $case: 'message'; readonly value: A2aMessage }
    | { readonly $case: 'statusUpdate'; readonly value: StatusUpdate }
    | { readonly $case: 'artifactUpdate'; readonly value: ArtifactUpdate }
    | undefined;
}

interface CallOptions {
  signal?: AbortSignal;
}

interface AnyRequest {
  readonly tenant?: string | undefined;
  readonly message?: A2aMessage | undefined;
  readonly configuration?: unknown;
  readonly metadata?: Metadata;
}

/** `Client` of the SDK. */
export interface FrameClient {
  /** Sends a message and returns the answer or the task. */
  sendMessage(params: AnyRequest, options?: CallOptions): Promise<A2aMessage | Task>;
  /** Sends a message and yields the events of its task. */
  sendMessageStream(params: AnyRequest, options?: CallOptions): AsyncIterable<StreamResponse>;
  /** Cancels a task and returns it. */
  cancelTask(params: { tenant: string; id: string; metadata: Metadata }, options?: CallOptions): Promise<Task>;
}
