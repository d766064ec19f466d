/** Two endpoints of a session with a faulty line between them, and the records of every message. */

import { expect } from 'vitest';
import {
  type Codec,
  createCodec,
  createSession,
  type DecodeOutcome,
  type JsonObject,
  type SequenceMode,
  type Session,
  type SessionOptions,
  type SessionStore,
} from '../../../src/accp/codec/index.js';
import { FaultyChannel } from '../../helpers/faulty-channel.js';
import { passingTime } from '../../helpers/passing-time.js';
import { type RecordedStore, recordedStore } from './recorded-tables.js';

export type Side = 'a' | 'b';

export const OTHER: Readonly<Record<Side, Side>> = { a: 'b', b: 'a' };

/** The record of a message. */
interface Entry {
  readonly number: number;
  readonly from: Side;
  /** The sender: an endpoint may send for several agents. */
  readonly agent: string;
  readonly payload: JsonObject;
  /** The correlation identifier of all frames. */
  cid: string | undefined;
  processed: number;
  /** The number of events at the receiver that report it as expired. */
  expired: number;
  /** The number of frames rejected with an error that is not about delivery: parts whose beginning was dropped. */
  refused: number;
}

interface Endpoint {
  readonly codec: Codec;
  readonly store: SessionStore;
  readonly tables: RecordedStore['tables'];
  session: Session;
  /** The frames in transit to this side. */
  readonly incoming: FaultyChannel;
  /** The number of the last message processed by this side, by sender. */
  readonly last: Map<string, number>;
  /** The identifiers of processed frames, including protocol frames. */
  readonly processed: Set<string>;
  /** The number of messages that the endpoint has reported as lost, because its outbox had evicted them. */
  lost: number;
  /** The chains whose answer was reported as overdue. */
  readonly overdue: Set<string>;
  /** The number of decoded frames. */
  decoded: number;
}

export interface WorldOptions {
  readonly sequence: SequenceMode;
  /** If true, both sides send compact frames, and the payloads of messages repeat keys and strings. */
  readonly compact?: boolean;
  readonly session?: Partial<SessionOptions>;
}

export interface Speech {
  readonly agent?: string;
  readonly ttl?: number;
  /** If true, the message is long enough to be split into several frames. */
  readonly long?: boolean;
  readonly cid?: string;
  readonly intent?: string;
}

const START = 1_714_000_000;
/** Words that need more than one frame. */
const LONG_TEXT = Array.from({ length: 160 }, (_, at) => `word${at}`).join('-');

const WORDS = ['plan_ready', 'review_failed', 'north_america', 'eu-west-1', 'impl_auth_module', 'blocked'];

/** Payloads with few shapes and strings: those of earlier messages, in a table or a map, of which some lack keys. */
function repetitive(number: number): JsonObject {
  const word = (at: number): string => WORDS[(number * at) % WORDS.length]!;
  const row = (at: number): JsonObject => ({
    service: word(at),
    status: word(at + 1),
    ...(at === 3 ? {} : { count: at }),
  });
  switch (number % 5) {
    case 0:
      return { status: word(2), rows: [row(1), row(2), row(3)] };
    case 1:
      return { status: word(3), owner: { name: word(1), team: word(2), 2: null } };
    case 2:
      return { due: `2026-04-${10 + (number % 20)}T09:05:27Z`, 7: '-', tags: ['#1', word(5), word(5)] };
    case 3:
      return { status: word(1), extra: { [`k${number}`]: word(2), other: `x-${number}-unique` } };
    default:
      return { status: word(4), rows: [{ service: word(2), deep: [{ a: 1, b: [2] }] }, { service: word(3) }] };
  }
}

/** Returns the agent of a frame. */
function senderOf(frame: string): string {
  return /^@([a-z0-9]+)>/.exec(frame)![1]!;
}

export class World {
  readonly options: WorldOptions;
  readonly ends: Readonly<Record<Side, Endpoint>>;
  readonly messages: Entry[] = [];
  /** The number of the last answered request. */
  settled = 0;
  /** The number of times that the tables of both sides were compared. */
  compared = 0;
  /** The tables of compact frames with which the sender continued, by frame. */
  readonly #tables = new Map<string, object | null>();
  readonly #clock = passingTime(START, 1000);

  constructor(options: WorldOptions) {
    this.options = options;
    this.ends = { a: this.#endpoint('a'), b: this.#endpoint('b') };
    if (options.compact !== true) return;
    for (const side of ['a', 'b'] as const) {
      const { codec, session } = this.ends[side];
      this.#put(side, codec.announce(session).frames);
      this.drain(10);
    }
  }

  /** Encodes a message, and puts its frames on the line. */
  say(from: Side, { agent = from, ttl, long = false, cid, intent = 'ack' }: Speech = {}): number {
    const number = this.messages.length + 1;
    const { codec, session } = this.ends[from];
    const { compact = false } = this.options;
    const payload: JsonObject = {
      n: number,
      ...(long ? { text: LONG_TEXT } : {}),
      ...(compact ? repetitive(number) : {}),
    };
    // A compact frame shows no number, so its identifier must be known.
    const named = cid ?? (compact ? `m${number}` : undefined);
    const { frames, correlationId } = codec.encode(
      { agent, intent, operation: 'say', payload, envelope: { ttl, correlation_id: named } },
      session,
    );
    this.messages.push({
      number,
      from,
      agent,
      payload,
      cid: named ?? correlationId,
      processed: 0,
      expired: 0,
      refused: 0,
    });
    if (long) expect(frames.length).toBeGreaterThan(1);
    this.#put(from, frames);
    return number;
  }

  /** Delivers the next frame on the line to a side. */
  deliver(to: Side): void {
    const text = this.ends[to].incoming.take();
    if (text !== undefined) this.arrive(to, text);
  }

  arrive(to: Side, text: string): DecodeOutcome {
    const end = this.ends[to];
    end.decoded++;
    const outcome = end.codec.decode(text, end.session);
    if (outcome.outcome === 'rejected') {
      if (outcome.reply !== null) this.#put(to, [outcome.reply]);
      const { code, path } = outcome.error;
      if (code === 'E1001' && path === 'metadata.idx') this.#messageOf(to, text)!.refused++;
    } else if (outcome.outcome !== 'dropped') {
      this.#compareTables(to, text);
      this.#put(to, outcome.replies);
      for (const { code, message } of outcome.warnings) {
        if (code === 'lost') end.lost += Number(/^[0-9]+/.exec(message)![0]);
      }
    }
    if (outcome.outcome === 'message') this.#processed(to, outcome);
    return outcome;
  }

  /** Moves the clock, and calls `tick` on both sides. */
  wait(seconds: number): void {
    this.#clock.now += seconds;
    for (const end of [this.ends.a, this.ends.b]) {
      for (const { correlationId, error } of end.session.tick()) {
        expect(error.code).toBe('E3001');
        end.overdue.add(correlationId);
      }
    }
  }

  /** Closes a side, and continues with the data of its store. */
  restart(side: Side): void {
    const end = this.ends[side];
    end.session.close();
    end.session = this.#open(side, end.store);
    // A session has the clock of the codec that used it last.
    end.codec.getBudget(end.session);
    expect(end.session.resumed).toBe(true);
  }

  /** Delivers all frames in transit, and those sent because of them. Returns the number of frames. */
  drain(most: number): number {
    let count = 0;
    while (this.ends.a.incoming.length + this.ends.b.incoming.length > 0) {
      for (const side of ['a', 'b'] as const) {
        if (this.ends[side].incoming.length === 0) continue;
        this.deliver(side);
        count++;
      }
      if (count > most) throw new Error(`the sides have exchanged ${count} frames without end`);
    }
    return count;
  }

  /** Returns the messages without a record: not processed, not reported as expired, and not rejected. */
  unaccounted(from?: Side): Entry[] {
    return this.messages.filter(
      (entry) => (from === undefined || entry.from === from) && entry.processed + entry.expired + entry.refused === 0,
    );
  }

  #put(from: Side, frames: readonly string[]): void {
    this.ends[OTHER[from]].incoming.put(frames);
    const last = frames.at(-1);
    // Frames about the session are processed in a gap, too, and use no tables.
    if (last === undefined || this.options.compact !== true || /^@\w+>(?:fail:error|sync:re)/.test(last)) return;
    this.#tables.set(last, this.ends[from].tables('out', senderOf(last)));
  }

  /** After a frame was read, both sides have the same tables. */
  #compareTables(to: Side, text: string): void {
    const sent = this.#tables.get(text);
    if (sent === undefined) return;
    this.compared++;
    expect(this.ends[to].tables('in', senderOf(text)), text).toEqual(sent);
  }

  #endpoint(side: Side): Endpoint {
    const { store, tables } = recordedStore();
    let made = 0;
    const codec = createCodec({
      now: () => this.#clock.now * 1000,
      createId: () => `${side}${String(++made).padStart(11, '0')}`,
      text: 'reject',
      state: false,
      compact: this.options.compact,
      log: ({ type, frame }) => {
        if (type === 'dropped') this.#expired(side, frame!);
      },
    });
    return {
      codec,
      store,
      tables,
      session: this.#open(side, store),
      incoming: new FaultyChannel(),
      last: new Map(),
      processed: new Set(),
      lost: 0,
      overdue: new Set(),
      decoded: 0,
    };
  }

  #open(side: Side, store: SessionStore): Session {
    const { sequence, session } = this.options;
    return createSession({ ...session, agent: side, id: 's', sequence, store });
  }

  /** Records a processed message: never twice, and never before one that was sent earlier. */
  #processed(to: Side, { message }: DecodeOutcome & { readonly outcome: 'message' }): void {
    const end = this.ends[to];
    const { msg_id: mid } = message.envelope;
    if (end.processed.has(mid)) throw new Error(`@${to} has processed the frame ${mid} twice`);
    end.processed.add(mid);
    if (message.operation !== 'say') return;
    const number = message.payload['n'] as number;
    const entry = this.messages[number - 1]!;
    expect(message.payload).toEqual(entry.payload);
    if (++entry.processed > 1) throw new Error(`message ${number} was processed twice`);
    if (entry.expired > 0) throw new Error(`message ${number} was processed after it had expired`);
    const last = end.last.get(message.agent) ?? 0;
    if (number <= last) throw new Error(`message ${number} was processed after message ${last}`);
    end.last.set(message.agent, number);
  }

  #expired(to: Side, frame: string): void {
    const entry = this.#messageOf(to, frame);
    if (entry !== undefined) entry.expired++;
  }

  /** Returns the record of a frame. The first frame of a message has its number; all frames of a split one have its cid. */
  #messageOf(to: Side, frame: string): Entry | undefined {
    const number = Number(/[{|]n:([0-9]+)/.exec(frame)?.[1]);
    const cid = /,cid:([a-z0-9]+)/.exec(frame)?.[1];
    const entry = this.messages[number - 1] ?? this.messages.find((message) => message.cid === cid);
    return entry?.from === OTHER[to] ? entry : undefined;
  }
}
