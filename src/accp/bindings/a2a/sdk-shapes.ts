/** The shapes of A2A 1.0 that the binding makes and reads, as the official SDK `@a2a-js/sdk` has them. It is not imported. */

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

/** States that a task does not leave. */
export const TERMINAL: ReadonlySet<number> = new Set([
  TASK_STATE.completed,
  TASK_STATE.failed,
  TASK_STATE.canceled,
  TASK_STATE.rejected,
]);

/** `Role` of the SDK. */
export const ROLE = { user: 1, agent: 2 } as const;

type Metadata = { [key: string]: unknown } | undefined;

export interface TextPart {
  content: { $case: 'text'; value: string };
  mediaType: string;
  filename: string;
  metadata: Metadata;
}

export interface RawPart {
  content: { $case: 'raw'; value: Uint8Array };
  mediaType: string;
  filename: string;
  metadata: Metadata;
}

/** A part of any kind, as it is read. */
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

/** The events that `AgentEvent` of the SDK makes. */
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
  readonly execute: (context: ExecutionContext, bus: EventBus) => Promise<void>;
  readonly cancelTask: (taskId: string, bus: EventBus) => Promise<void>;
}

export interface MessageRequest<Part = AnyPart> {
  tenant: string;
  message: A2aMessage<Part>;
  configuration: {
    acceptedOutputModes: string[];
    taskPushNotificationConfig: undefined;
    returnImmediately: boolean;
  };
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
  sendMessage(params: AnyRequest, options?: CallOptions): Promise<A2aMessage | Task>;
  sendMessageStream(params: AnyRequest, options?: CallOptions): AsyncIterable<StreamResponse>;
  cancelTask(params: { tenant: string; id: string; metadata: Metadata }, options?: CallOptions): Promise<Task>;
}
