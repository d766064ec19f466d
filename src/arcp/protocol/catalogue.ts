/** All message types (spec 003, "Message Types"): the schema of each payload, its sender, and required members of its envelope. */
import type * as z from 'zod/mini';
import * as control from './payloads/control.js';
import * as event from './payloads/event.js';
import * as execution from './payloads/execution.js';
import * as stream from './payloads/streaming.js';

/** The side that sends messages of a type. */
export type Sender = 'client' | 'runtime' | 'either';

/** The group of a message type in the specification. */
export type MessageGroup = 'control' | 'execution' | 'streaming' | 'event';

type RequiredId = 'job_id' | 'stream_id';

interface Description {
  readonly group: MessageGroup;
  readonly from: Sender;
  /** `true` for a command, which is executed once and answered, or refused. */
  readonly isCommand: boolean;
  readonly endsJob: boolean;
  readonly requires: RequiredId | undefined;
  readonly payload: z.ZodMiniType;
}

function message<P extends z.ZodMiniType>(
  group: MessageGroup,
  from: Sender,
  payload: P,
  more: Partial<Pick<Description, 'isCommand' | 'endsJob' | 'requires'>> = {},
) {
  return { group, from, payload, isCommand: false, endsJob: false, requires: undefined, ...more };
}

const COMMAND = { isCommand: true } as const;
const OF_JOB = { requires: 'job_id' } as const;
const LAST_OF_JOB = { requires: 'job_id', endsJob: true } as const;
const OF_STREAM = { requires: 'stream_id' } as const;

/** All message types by name, with the schema of the payload. */
export const CATALOGUE = {
  'session.open': message('control', 'client', control.sessionOpen, COMMAND),
  'session.accepted': message('control', 'runtime', control.sessionAccepted),
  'session.close': message('control', 'either', control.sessionClose, COMMAND),
  ping: message('control', 'either', control.ping),
  pong: message('control', 'either', control.pong),
  ack: message('control', 'either', control.ack),
  nack: message('control', 'either', control.nack),
  cancel: message('control', 'client', control.cancel, COMMAND),
  resume: message('control', 'client', control.resume, COMMAND),
  backpressure: message('control', 'either', control.backpressure),
  'checkpoint.create': message('control', 'client', control.checkpointCreate, COMMAND),
  'checkpoint.restore': message('control', 'client', control.checkpointRestore, COMMAND),
  'permission.request': message('control', 'runtime', control.permissionRequest),
  'permission.grant': message('control', 'client', control.permissionGrant),
  'permission.deny': message('control', 'client', control.permissionDeny),
  // A runtime reports the calls that a job makes.
  'tool.invoke': message('execution', 'either', execution.toolInvoke, COMMAND),
  'tool.result': message('execution', 'runtime', execution.toolResult),
  'tool.error': message('execution', 'runtime', execution.toolError),
  'job.accepted': message('execution', 'runtime', execution.jobAccepted, OF_JOB),
  'job.started': message('execution', 'runtime', execution.jobStarted, OF_JOB),
  'job.progress': message('execution', 'runtime', execution.jobProgress, OF_JOB),
  'job.heartbeat': message('execution', 'runtime', execution.jobHeartbeat, OF_JOB),
  'job.checkpoint': message('execution', 'runtime', execution.jobCheckpoint, OF_JOB),
  'job.completed': message('execution', 'runtime', execution.jobCompleted, LAST_OF_JOB),
  'job.failed': message('execution', 'runtime', execution.jobFailed, LAST_OF_JOB),
  'job.cancelled': message('execution', 'runtime', execution.jobCancelled, LAST_OF_JOB),
  'workflow.start': message('execution', 'client', execution.workflowStart, COMMAND),
  'workflow.complete': message('execution', 'runtime', execution.workflowComplete),
  // Between runtimes, either side may delegate.
  'agent.delegate': message('execution', 'either', execution.agentDelegate, COMMAND),
  'agent.handoff': message('execution', 'either', execution.agentHandoff, COMMAND),
  'stream.open': message('streaming', 'either', stream.streamOpen, OF_STREAM),
  'stream.chunk': message('streaming', 'either', stream.streamChunk, OF_STREAM),
  'stream.close': message('streaming', 'either', stream.streamClose, OF_STREAM),
  'stream.error': message('streaming', 'either', stream.streamError, OF_STREAM),
  'event.emit': message('event', 'either', event.eventEmit),
  log: message('event', 'either', event.log),
  metric: message('event', 'either', event.metric),
  'trace.span': message('event', 'either', event.traceSpan),
} as const satisfies Readonly<Record<string, Description>>;

/** The name of a message type. */
export type MessageType = keyof typeof CATALOGUE;

/** The payload of messages of a type. Members that the schema does not define are preserved. */
export type PayloadOf<T extends MessageType> = z.output<(typeof CATALOGUE)[T]['payload']>;

/** The names of all message types, in the order of the specification. */
export const MESSAGE_TYPES = Object.keys(CATALOGUE) as readonly MessageType[];

export function describe(type: string): Description | undefined {
  return Object.hasOwn(CATALOGUE, type) ? CATALOGUE[type as MessageType] : undefined;
}

/** Names that a later revision of the protocol uses. An extension is named `x.VENDOR.NAME`, or by a reversed domain. */
const RESERVED =
  /^(?:session\.(?:challenge|authenticate|unauthenticated|rejected|refresh|evicted)|cancel\.(?:accepted|refused)|interrupt|job\.schedule|(?:human|lease|subscribe|subscription|unsubscribe|artifact)(?:\..*)?)$/;
const EXTENSION = /^(?:x\.[a-z0-9_-]+(?:\.[a-zA-Z0-9_-]+)+|[a-z]{2,}(?:\.[a-zA-Z0-9_-]+){2,})$/;

/** Returns whether a name is valid for an extension type, and not reserved. */
export function isExtensionType(type: string): boolean {
  return EXTENSION.test(type) && !RESERVED.test(type) && describe(type) === undefined;
}
