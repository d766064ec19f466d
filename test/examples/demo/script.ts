/** The story of the pipeline, as `pipeline.json` has it. */
import type { JsonObject, SchemaDefinition } from '../../../src/accp/message/json.js';
import type { MessageInput } from '../../../src/accp/message/message.js';

export interface Script {
  readonly title: string;
  /** What the identifiers of all sessions begin with. */
  readonly session: string;
  /** Who has a session with each of the others. */
  readonly hub: string;
  /** When it begins: seconds since 1970. */
  readonly start: number;
  /** Schemas that an agent has besides those of the profiles, by agent and name. */
  readonly schemas: Readonly<Record<string, Readonly<Record<string, SchemaDefinition>>>>;
  readonly steps: readonly Step[];
}

export type Step = Title | Try | Meet | Say | Fail | State | Stream | Resume;

interface Title {
  readonly do: 'title';
  readonly text: string;
}

/** The hub tries to send what cannot be sent yet. */
export interface Try {
  readonly do: 'try';
  readonly to: string;
  readonly message: MessageInput;
}

/** The hub and another agent exchange their registries. */
export interface Meet {
  readonly do: 'meet';
  readonly with: string;
}

interface Message {
  readonly from: string;
  readonly to: string;
  /** What an agent without a protocol would have written. */
  readonly english: string;
  /** The name of the message that it answers. */
  readonly answers?: string;
}

export interface Say extends Message {
  readonly do: 'say';
  /** What later steps call it. */
  readonly name?: string;
  /** The name of the message that is tried once more. */
  readonly retries?: string;
  readonly message: MessageInput;
  /** The channel loses it. */
  readonly lost?: boolean;
  /** Whether to show what the receiver's model gets to read. */
  readonly show?: boolean;
  /** Sent by the process that goes on with the session. */
  readonly resumed?: boolean;
}

/** The handler of a message throws. */
export interface Fail extends Message {
  readonly do: 'fail';
  readonly answers: string;
  readonly error: string;
}

/** The hub brings another agent's copy of the state to these values. */
export interface State {
  readonly do: 'state';
  readonly to: string;
  readonly english: string;
  readonly values: JsonObject;
}

export interface Stream {
  readonly do: 'stream';
  readonly from: string;
  readonly to: string;
  readonly answers: string;
  readonly operation: string;
  readonly chunks: readonly string[];
  /** The order in which the chunks are sent. */
  readonly order: readonly number[];
}

/** The hub's sessions are closed, and gone on with from their file. */
interface Resume {
  readonly do: 'resume';
}
