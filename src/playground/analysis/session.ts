/** A session of two agents over a line that loses or repeats frames. */
import {
  type Codec,
  createCodec,
  createSession,
  type DecodeOutcome,
  type MessageInput,
  type Session,
} from '../../accp/codec/index.js';
import { explainFrame, tryParseFrame } from '../../accp/index.js';
import { PegwireError } from '../../text/errors.js';
import { shown } from './result.js';

/** The messages, one JSON document per line, and what happens to the frames of each. */
export interface SessionInput {
  readonly script: string;
  /** The numbers of lines, from 0, whose frames are lost, and those whose frames arrive twice. */
  readonly lost: readonly number[];
  readonly repeated: readonly number[];
  readonly compact: boolean;
}

/** A frame on the line, with its outcome at the other end. */
export interface Arrow {
  readonly from: string;
  readonly to: string;
  readonly frame: string;
  readonly english: string;
  /** The line of the script; null for an answer that the codec made by itself. */
  readonly line: number | null;
  readonly outcome: DecodeOutcome['outcome'] | 'lost';
  /** The code of a rejection, and its reason. */
  readonly code: string | null;
  readonly detail: string;
}

export interface SessionResult {
  readonly agents: readonly string[];
  readonly arrows: readonly Arrow[];
  /** The lines of the script that cannot be sent. */
  readonly errors: readonly { readonly line: number; readonly message: string }[];
}

const MAX_MESSAGES = 40;
const MAX_ARROWS = 200;
/** A fixed clock and fixed identifiers: the same script gives the same frames. */
const START_MS = 1_714_000_000_000;

interface Endpoint {
  readonly codec: Codec;
  readonly session: Session;
}

/** Runs the messages of a script. The first two names of agents are the ends of the session. */
export function simulate({ script, lost, repeated, compact }: SessionInput): SessionResult {
  const { messages, errors } = messagesOf(script);
  const agents = [...new Set(messages.map(({ message }) => message.agent!))];
  const known = agents.length === 1 ? [...agents, agents[0] === 'peer' ? 'other' : 'peer'] : agents.slice(0, 2);
  const arrows: Arrow[] = [];
  const ends = new Map<string, Endpoint>();
  try {
    let ids = 0;
    let clock = START_MS;
    const now = (): number => clock;
    for (const agent of known) {
      const createId = (): string => `m${(++ids).toString().padStart(2, '0')}`;
      const codec = createCodec({ text: 'transliterate', compact, now, createId });
      ends.set(agent, { codec, session: createSession({ agent, id: 's1', sequence: 'sender', now }) });
    }
    const other = (agent: string): string => known[agent === known[0] ? 1 : 0]!;
    /** Frames on their way, oldest first: an answer arrives after what was sent before it. */
    const line: { from: string; frame: string; number: number | null; isLost: boolean }[] = [];
    const deliver = (): void => {
      for (let sent = line.shift(); sent !== undefined && arrows.length < MAX_ARROWS; sent = line.shift()) {
        clock += 1_000;
        const { from, frame, number, isLost } = sent;
        const to = other(from);
        if (isLost) {
          arrows.push({
            ...arrowOf(from, to, frame, number),
            outcome: 'lost',
            code: null,
            detail: 'The frame is lost.',
          });
          continue;
        }
        const { codec, session } = ends.get(to)!;
        const outcome = codec.decode(frame, session);
        arrows.push({ ...arrowOf(from, to, frame, number), ...detailOf(outcome) });
        const answers = 'replies' in outcome ? outcome.replies : 'reply' in outcome ? [outcome.reply] : [];
        for (const answer of answers)
          if (answer !== null) line.push({ from: to, frame: answer, number: null, isLost: false });
      }
    };
    if (compact) {
      for (const [agent, { codec, session }] of ends)
        for (const frame of codec.announce(session).frames)
          line.push({ from: agent, frame, number: null, isLost: false });
      deliver();
    }
    for (const { message, number } of messages) {
      if (!ends.has(message.agent!)) {
        errors.push({ line: number, message: `A session has two agents; ${message.agent} is the third.` });
        continue;
      }
      try {
        const { codec, session } = ends.get(message.agent!)!;
        for (const frame of codec.encode(message, session).frames) {
          const isLost = lost.includes(number);
          line.push({ from: message.agent!, frame, number, isLost });
          if (repeated.includes(number)) line.push({ from: message.agent!, frame, number, isLost: false });
        }
      } catch (thrown) {
        if (!(thrown instanceof PegwireError)) throw thrown;
        errors.push({ line: number, message: `${thrown.code}: ${thrown.message}` });
      }
      deliver();
    }
    return { agents: known, arrows, errors };
  } finally {
    for (const { session } of ends.values()) session.close();
  }
}

function arrowOf(
  from: string,
  to: string,
  frame: string,
  line: number | null,
): Pick<Arrow, 'from' | 'to' | 'frame' | 'english' | 'line'> {
  const parsed = tryParseFrame(frame);
  return {
    from,
    to,
    frame: shown(frame, 2_000),
    english: parsed.ok ? shown(explainFrame(parsed.value), 2_000) : '',
    line,
  };
}

function detailOf(outcome: DecodeOutcome): Pick<Arrow, 'outcome' | 'code' | 'detail'> {
  switch (outcome.outcome) {
    case 'message': {
      const { intent, operation, schema, payload } = outcome.message;
      const message = { intent, operation, ...(schema === undefined ? {} : { schema }), payload };
      return { outcome: 'message', code: null, detail: shown(JSON.stringify(message, plain), 2_000) };
    }
    case 'rejected':
      return { outcome: 'rejected', code: outcome.error.code, detail: outcome.error.message };
    case 'pending':
      return { outcome: 'pending', code: null, detail: 'A part of a message.' };
    default:
      return { outcome: 'dropped', code: null, detail: 'The frame has expired.' };
  }
}

function plain(_key: string, value: unknown): unknown {
  return typeof value === 'bigint' ? String(value) : value;
}

interface Numbered {
  readonly message: MessageInput;
  readonly number: number;
}

function messagesOf(script: string): {
  readonly messages: readonly Numbered[];
  readonly errors: { line: number; message: string }[];
} {
  const messages: Numbered[] = [];
  const errors: { line: number; message: string }[] = [];
  for (const [number, text] of script.split('\n').entries()) {
    if (text.trim() === '') continue;
    if (messages.length >= MAX_MESSAGES) {
      errors.push({ line: number, message: `Only ${MAX_MESSAGES} messages are sent.` });
      break;
    }
    try {
      const message = JSON.parse(text) as MessageInput;
      if (
        typeof message?.agent !== 'string' ||
        typeof message.intent !== 'string' ||
        typeof message.operation !== 'string'
      )
        throw new TypeError('A message needs agent, intent and operation.');
      if (!/^[A-Za-z0-9_-]+$/.test(message.agent))
        throw new TypeError('The name of an agent is letters, digits, "-" and "_".');
      messages.push({ message, number });
    } catch (thrown) {
      errors.push({ line: number, message: (thrown as Error).message });
    }
  }
  return { messages, errors };
}
