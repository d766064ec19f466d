/** Writes the rounds of a session in each notation, and reads them back. */
import { isDeepStrictEqual } from 'node:util';
import { encode as toon } from '@toon-format/toon';
import {
  type Codec,
  type CodecOptions,
  createCodec,
  createSession,
  type Json,
  type JsonObject,
  type Registry,
  type SequenceMode,
  type Session,
} from '../../src/accp/codec/index.js';
import { createIds, createShortIds } from '../../src/accp/session/runtime.js';
import { createRandom } from '../../src/text/random.js';
import type { TokenCounter } from '../../src/tokens/counter.js';
import type { AgentMessage } from '../corpus/agent-messages.js';
import { copyTables, type JsonBody, JsonReader, type JsonTables, JsonWriter, newTables } from './json-codec.js';

/** The notations, in the order of the counts. */
export const FORMS = ['json', 'toon', 'tricks', 'plain', 'compact'] as const;
export type Form = (typeof FORMS)[number];

/** One message in each notation. */
export interface Written {
  readonly message: AgentMessage;
  /** Header and payload. */
  readonly body: Readonly<Record<Form, string>>;
  /** The number of compact frames. */
  readonly frames: number;
  /** With envelope. The JSON and TOON have the members that the compact frame spells; the plain frame has those of the codec. */
  readonly whole: Readonly<Record<Form, string>>;
}

export interface WrittenSession {
  readonly rounds: readonly (readonly Written[])[];
  /** The frames of both sides that agree on the profile. */
  readonly announcements: readonly string[];
}

export interface SessionSettings {
  readonly counter: TokenCounter;
  readonly sequence?: SequenceMode;
  readonly registry?: Registry | undefined;
  /** The tables that a reader of JSON knows before the first message. */
  readonly jsonTables?: JsonTables | undefined;
}

interface SentFrames {
  readonly frames: readonly string[];
}

/**
 * Writes rounds of one conversation as one session.
 *
 * @throws Error if a message is not read back as it was
 */
export function writeSession(rounds: readonly (readonly AgentMessage[])[], settings: SessionSettings): WrittenSession {
  const compact = new Link(settings, { compact: true, registry: settings.registry });
  const plain = new Link(settings, { sessionId: 'first', registry: settings.registry });
  const tables = settings.jsonTables ?? newTables();
  const json = new Map<string, { readonly writer: JsonWriter; readonly reader: JsonReader }>();
  // As in compact frames, each agent has its own tables if it counts its own frames.
  const jsonOf = (agent: string) => {
    const key = settings.sequence === 'sender' ? agent : '';
    const known = json.get(key) ?? {
      writer: new JsonWriter(settings.counter, copyTables(tables)),
      reader: new JsonReader(copyTables(tables)),
    };
    json.set(key, known);
    return known;
  };
  const written = rounds.map((round) => {
    compact.beginRound();
    plain.beginRound();
    return round.map((message, position): Written => {
      const short = compact.send(message, position);
      const long = plain.send(message, position);
      const body = bodyOf(short.payload === undefined ? message : { ...message, payload: short.payload });
      const { writer, reader } = jsonOf(message.agent);
      const tricks = writer.write(body);
      if (!isDeepStrictEqual(reader.read(tricks), body))
        throw new Error(`${message.id} was not read from JSON as it was`);
      const envelope = envelopeOf(short.frames[0]!);
      return {
        message,
        frames: short.frames.length,
        body: {
          json: JSON.stringify(body),
          toon: toon(body),
          tricks,
          plain: withoutEnvelope(long.frames),
          compact: withoutEnvelope(short.frames),
        },
        whole: {
          json: JSON.stringify({ ...body, envelope }),
          toon: toon({ ...body, envelope }),
          tricks: `${tricks.slice(0, -1)},${JSON.stringify(listed(envelope))}]`,
          plain: long.frames.join('\n'),
          compact: short.frames.join('\n'),
        },
      };
    });
  });
  return { rounds: written, announcements: compact.announcements };
}

export function bodyOf({ agent, intent, operation, schema, payload }: AgentMessage): JsonBody {
  return { agent, intent, operation, ...(schema === undefined ? {} : { schema }), payload };
}

const SESSION_ID = 'sprint14-auth';
const START = 1_775_466_000_000;

/** Two sides of a session, one of which sends. */
class Link {
  readonly announcements: string[] = [];
  readonly #sides: readonly { readonly codec: Codec; readonly session: Session }[];
  #now = START;
  #version = 0;
  #round = 0;
  #cids: string[] = [];
  readonly #isCompact: boolean;

  constructor({ counter, sequence = 'session' }: SessionSettings, options: CodecOptions) {
    this.#isCompact = options.compact ?? false;
    this.#sides = ['bench', 'reader'].map((agent, index) => {
      const source = seeded(index + 1);
      const createId = this.#isCompact ? createShortIds(counter, source) : createIds(source);
      const now = (): number => this.#now;
      return {
        codec: createCodec({ text: 'transliterate', counter, state: false, now, createId, ...options }),
        session: createSession({ agent, id: SESSION_ID, sequence, now }),
      };
    });
    const { codec, session } = this.#sides[0]!;
    this.#deliver(codec.announce(session).frames, 0, this.announcements);
  }

  beginRound(): void {
    this.#round++;
    this.#cids = [];
  }

  send(message: AgentMessage, position: number): SentFrames & { readonly payload?: AgentMessage['payload'] } {
    const { agent, intent, operation, schema, answers } = message;
    this.#now += 37_000;
    const isState = operation === 'state';
    const payload = isState ? { ...message.payload, version: ++this.#version } : message.payload;
    const cid = answers === undefined ? undefined : this.#cidOf(answers);
    const { codec, session } = this.#sides[0]!;
    const envelope = cid === undefined ? {} : { correlation_id: cid };
    const { frames, correlationId } = codec.encode({ agent, intent, operation, schema, payload, envelope }, session);
    this.#cids[position] = correlationId;
    const read = this.#deliver(frames, 0);
    if (schema === 'ST') this.#dropStream(cid!);
    else if (!includes(read, payload)) throw new Error(`${message.id} was not read as it was`);
    return { frames, ...(isState ? { payload } : {}) };
  }

  /** The identifier of a request, or one of the other side if the request is not part of the conversation. */
  #cidOf(answers: number | string): string {
    if (typeof answers === 'number') return this.#cids[answers]!;
    const own = [...answers].reduce((sum, letter) => sum + letter.charCodeAt(0), 0) % 50;
    const number = String(2 * (own + 50 * this.#round));
    return this.#isCompact ? number : `a${number.padStart(11, '7')}`;
  }

  /** Delivers frames and the replies to them; returns the payload of the last message. */
  #deliver(frames: readonly string[], from: 0 | 1, kept: string[] = []): Json {
    let payload: Json = null;
    const to = from === 0 ? 1 : 0;
    const { codec, session } = this.#sides[to]!;
    for (const frame of frames) {
      kept.push(frame);
      const outcome = codec.decode(frame, session);
      if (outcome.outcome === 'rejected') throw outcome.error;
      if (outcome.outcome === 'dropped') throw new Error(`${frame} was dropped`);
      if (outcome.outcome === 'message') payload = outcome.message.payload;
      this.#deliver(outcome.replies, to, kept);
    }
    return payload;
  }

  #dropStream(cid: string): void {
    const { session } = this.#sides[1]!;
    if (session.pendingStreams.includes(cid)) void session.stream(cid)[Symbol.asyncIterator]().return?.(undefined);
  }
}

function seeded(seed: number) {
  const random = createRandom(seed);
  return {
    getRandomValues: (bytes: Uint8Array): Uint8Array => {
      for (let index = 0; index < bytes.length; index++) bytes[index] = random.integer(0, 255);
      return bytes;
    },
  };
}

/** Returns `true` if a payload has all members of another one. Schemas add defaults. */
function includes(read: Json, payload: JsonObject): boolean {
  const members = (read ?? {}) as JsonObject;
  return Object.entries(payload).every(([key, value]) =>
    isDeepStrictEqual(sorted(members[key] ?? null), sorted(value)),
  );
}

function sorted(value: Json): Json {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map((item) => sorted(item as Json));
  return Object.fromEntries(
    Object.keys(value)
      .sort()
      .map((key) => [key, sorted((value as JsonObject)[key]!)]),
  );
}

function withoutEnvelope(frames: readonly string[]): string {
  return frames.map((frame) => frame.slice(0, frame.lastIndexOf('}[') + 1)).join('\n');
}

const MEMBERS: Readonly<Record<string, string>> = {
  ...{ mid: 'msg_id', seq: 'sequence', ts: 'timestamp', cid: 'correlation_id', aid: 'causation_id' },
  ...{ sid: 'session_id', ttl: 'ttl' },
};

/** The envelope as a list: the four common members, and a map of the others. */
function listed({ msg_id, sequence, timestamp, correlation_id, ...others }: Record<string, string | number>) {
  const common = [msg_id!, sequence!, timestamp!, ...(correlation_id === undefined ? [] : [correlation_id])];
  return Object.keys(others).length === 0 ? common : [...common, others];
}

/** The envelope that a frame spells, with the names of JSON. */
function envelopeOf(frame: string): Record<string, string | number> {
  const text = frame.slice(frame.lastIndexOf('}[') + 2, -1);
  const fields = text.split(',').map((field) => field.split(':') as [string, string]);
  const known = fields.filter(([key]) => key in MEMBERS);
  return Object.fromEntries(
    known.map(([key, value]) => [MEMBERS[key]!, ['seq', 'ts', 'ttl'].includes(key) ? Number(value) : value]),
  );
}
