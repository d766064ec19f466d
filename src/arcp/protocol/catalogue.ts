/** All message types (spec 003, "Message Types"): the schema of each payload, who sends it, and what its envelope names. */
import type * as z from 'zod/mini';
import * as control from './payloads/control.js';
import * as event from './payloads/event.js';
import * as execution from './payloads/execution.js';
import * as stream from './payloads/streaming.js';

/** Who sends messages of a type: one of the two sides of a session, or either. */
export type Sender = 'client' | 'runtime' | 'either';

export type MessageGroup = 'control' | 'execution' | 'streaming' | 'event';

/** What the envelope of a message has to name beside what all have. */
type RequiredId = 'job_id' | 'stream_id';

interface Description {
  readonly group: MessageGroup;
  readonly from: Sender;
  /** A command is answered: carried out once, or refused. All else only tells. */
  readonly isCommand: boolean;
  /** The last message of a job. */
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
  // A runtime tells of the calls that a job makes.
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
  // Between runtimes, either side may be the one that delegates.
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

export type MessageType = keyof typeof CATALOGUE;

/** The payload of messages of a type. Members that no schema names are kept. */
export type PayloadOf<T extends MessageType> = z.output<(typeof CATALOGUE)[T]['payload']>;

/** In the order of the specification. */
export const MESSAGE_TYPES = Object.keys(CATALOGUE) as readonly MessageType[];

/** @returns `undefined` for a type that is none of the catalogue */
export function describe(type: string): Description | undefined {
  return Object.hasOwn(CATALOGUE, type) ? CATALOGUE[type as MessageType] : undefined;
}

/**
 * Names that a later revision of the protocol gave a meaning. They are nobody's own: an extension is named `x.VENDOR.NAME`, or by a
 * domain read backwards.
 */
const RESERVED =
  /^(?:session\.(?:challenge|authenticate|unauthenticated|rejected|refresh|evicted)|cancel\.(?:accepted|refused)|interrupt|job\.schedule|(?:human|lease|subscribe|subscription|unsubscribe|artifact)(?:\..*)?)$/;
const EXTENSION = /^(?:x\.[a-z0-9_-]+(?:\.[a-zA-Z0-9_-]+)+|[a-z]{2,}(?:\.[a-zA-Z0-9_-]+){2,})$/;

/** Whether a type may be given a meaning of one's own. */
export function isExtensionType(type: string): boolean {
  return EXTENSION.test(type) && !RESERVED.test(type) && describe(type) === undefined;
}
