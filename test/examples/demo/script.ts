/** The script of the pipeline, in `pipeline.json`. */
import type { JsonObject, SchemaDefinition } from '../../../src/accp/message/json.js';
import type { MessageInput } from '../../../src/accp/message/message.js';

export interface Script {
  readonly title: string;
  /** The prefix of the session identifiers. */
  readonly session: string;
  /** The agent that has a session with each of the others. */
  readonly hub: string;
  /** The start, in seconds since 1970. */
  readonly start: number;
  /** Schemas of an agent besides those of the profiles, by agent and name. */
  readonly schemas: Readonly<Record<string, Readonly<Record<string, SchemaDefinition>>>>;
  readonly steps: readonly Step[];
}

export type Step = Title | Try | Meet | Say | Fail | State | Stream | Resume;

interface Title {
  readonly do: 'title';
  readonly text: string;
}

/** The hub tries to send a message that cannot be sent yet. */
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
  /** The same message as plain English. */
  readonly english: string;
  /** The name of the message that this one answers. */
  readonly answers?: string;
}

export interface Say extends Message {
  readonly do: 'say';
  /** The name of this message in later steps. */
  readonly name?: string;
  /** The name of the message that this one retries. */
  readonly retries?: string;
  readonly message: MessageInput;
  /** If true, the channel loses the message. */
  readonly lost?: boolean;
  /** If true, the text for the receiver's model is shown. */
  readonly show?: boolean;
  /** If true, another process resumes the session and sends the message. */
  readonly resumed?: boolean;
}

/** The handler of a message throws. */
export interface Fail extends Message {
  readonly do: 'fail';
  readonly answers: string;
  readonly error: string;
}

/** The hub synchronizes these values to the state of another agent. */
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

/** The hub closes its sessions, and resumes them from their file. */
interface Resume {
  readonly do: 'resume';
}
