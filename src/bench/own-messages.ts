/** The run of `pegwire bench --corpus`: a user's own messages as JSON and as the frames that the codec makes of them. */
import { AccpError, createCodec, createSession, type JsonObject, type MessageInput } from '../accp/codec/index.js';
import { parseFrame, printFrame } from '../accp/index.js';
import type { TokenCounter } from '../tokens/counter.js';
import { optionalPackage, Unavailable } from './candidate.js';
import { zodAccp } from './candidates/plain.js';
import { type Runner, race } from './race.js';
import type { FactSection, RaceSection, Section } from './result.js';
import { significant } from './table.js';
import { flat, handling } from './workload.js';

/** A message, and the number of its line. */
export interface OwnMessage {
  readonly line: number;
  readonly value: JsonObject;
}

/** A message that the codec cannot encode, or that a session rejects. */
export class UnusableMessage extends Error {}

interface OwnOptions {
  readonly durationMs: number;
  readonly counter: TokenCounter;
  readonly onProgress: (what: string, share: number) => Promise<void>;
}

interface Toon {
  encode(value: unknown): string;
  decode(text: string): unknown;
}

const ROUNDS = 15;
const ENCODING = 'pegwire session encode';
const DECODING = 'pegwire session decode';

/**
 * Measures messages. An object with an `intent` and an `operation`, and no other members than `agent`, `schema` and `payload`, is a
 * message of the codec; any other object is the payload of one. A pass takes at least as long as all messages together.
 *
 * @throws UnusableMessage with the number of the line, or if a session cannot receive the messages again
 */
export async function measureOwn(messages: readonly OwnMessage[], options: OwnOptions): Promise<Section[]> {
  const { durationMs, counter, onProgress } = options;
  const inputs = messages.map(({ value }) => inputOf(value));
  const { frames, texts } = encodeOnce(messages, inputs, counter);
  const missing: { name: string; why: string }[] = [];
  const available = async <T>(name: string, load: () => Promise<T>): Promise<T | null> => {
    try {
      return await load();
    } catch (thrown) {
      if (!(thrown instanceof Unavailable)) throw thrown;
      missing.push({ name, why: thrown.message });
      return null;
    }
  };
  const toon = await available('TOON', () => optionalPackage<Toon>('@toon-format/toon'));
  const zod = await available('zod', zodAccp.prepare);
  const values = texts.map((text) => JSON.parse(text) as unknown);
  const trees = frames.map((text) => parseFrame(text));

  const reading: Runner[] = [
    handling('JSON.parse', (text) => JSON.parse(text) as unknown, texts),
    ...(zod === null ? [] : [handling(zodAccp.name, zod, texts)]),
    ...(toon === null ? [] : [handling('TOON decode', (text) => toon.decode(text), values.map(toon.encode))]),
    handling('pegwire parseFrame', (text) => parseFrame(text), frames),
    decoding(inputs, counter),
  ];
  const writing: Runner[] = [
    handling('JSON.stringify', (value) => JSON.stringify(value), values),
    ...(toon === null ? [] : [handling('TOON encode', (value) => toon.encode(value), values)]),
    handling('pegwire printFrame', (tree) => printFrame(tree), trees),
    encoding(inputs, counter),
  ];
  const runRace = async (id: string, title: string, runners: readonly Runner[], from: number): Promise<RaceSection> => {
    const milliseconds = durationMs / 2 / runners.length;
    const anchor = runners[0]!.name;
    const results = await race(runners, {
      anchor,
      rounds: ROUNDS,
      warmUpMs: milliseconds * 0.3,
      turnMs: (milliseconds * 0.7) / ROUNDS,
      onRound: (done) => onProgress(title.toLowerCase(), from + done / ROUNDS / 2),
    });
    const group = { name: 'messages', units: messages.length, characters: lengthOf(texts), results };
    return { kind: 'race', id, title, unit: 'message', anchor, groups: [group], missing };
  };
  return [
    sizes(
      [
        ['JSON', texts],
        ['JSON without envelope', messages.map(({ value }) => JSON.stringify(value))],
        ...(toon === null ? [] : ([['TOON', values.map((value) => toon.encode(value))]] as const)),
        ['frames', frames],
      ],
      counter,
    ),
    await runRace('own-reading', 'Reading', reading, 0),
    await runRace('own-writing', 'Writing', writing, 0.5),
  ];
}

const HEAD = { agent: 'bench', intent: 'req', operation: 'message' };

const MEMBERS: ReadonlySet<string> = new Set(['agent', 'intent', 'operation', 'schema', 'payload']);

function inputOf(value: JsonObject): MessageInput {
  const { intent, operation } = value;
  const isMessage = typeof intent === 'string' && typeof operation === 'string';
  if (!isMessage || !Object.keys(value).every((member) => MEMBERS.has(member))) return { ...HEAD, payload: value };
  return { agent: HEAD.agent, ...value } as unknown as MessageInput;
}

function createEndpoint(counter: TokenCounter) {
  return {
    codec: createCodec({ counter, text: 'transliterate' }),
    session: createSession({ agent: 'bench', id: 'bench' }),
  };
}

/** Encodes the messages, and decodes them in another session. Returns the frames, and the messages with their envelopes as JSON. */
function encodeOnce(
  messages: readonly OwnMessage[],
  inputs: readonly MessageInput[],
  counter: TokenCounter,
): { readonly frames: readonly string[]; readonly texts: readonly string[] } {
  const sender = createEndpoint(counter);
  const receiver = createEndpoint(counter);
  const pass = (): { readonly frames: string[]; readonly texts: string[] } => {
    const frames: string[] = [];
    const texts = inputs.map((input, index) => {
      let message: unknown = input;
      try {
        for (const frame of sender.codec.encode(input, sender.session).frames) {
          frames.push(flat(frame));
          const outcome = receiver.codec.decode(frame, receiver.session);
          if (outcome.outcome === 'rejected') throw outcome.error;
          if (outcome.outcome === 'message') message = outcome.message;
        }
      } catch (thrown) {
        if (!(thrown instanceof AccpError)) throw thrown;
        throw new UnusableMessage(`line ${messages[index]!.line}: ${thrown.message.replace(/\.$/, '')}`);
      }
      return flat(JSON.stringify(message));
    });
    return { frames, texts };
  };
  const first = pass();
  // The races repeat the messages in one session, which a state with a version does not allow.
  pass();
  return first;
}

/** Decodes the messages once per pass, each time in new frames: a session rejects repeated ones. */
function decoding(inputs: readonly MessageInput[], counter: TokenCounter): Runner {
  const sender = createEndpoint(counter);
  const receiver = createEndpoint(counter);
  let batches: string[][] = [];
  let at = 0;
  return {
    name: DECODING,
    prepare: (passes) => {
      batches = Array.from({ length: passes }, () => encodeAll(inputs, sender).map(flat));
      at = 0;
    },
    pass: () => {
      let accepted = 0;
      for (const frame of batches[at++]!) {
        if (receiver.codec.decode(frame, receiver.session).outcome !== 'rejected') accepted++;
      }
      return accepted;
    },
  };
}

function encoding(inputs: readonly MessageInput[], counter: TokenCounter): Runner {
  const sender = createEndpoint(counter);
  return { name: ENCODING, pass: () => encodeAll(inputs, sender).length };
}

function encodeAll(inputs: readonly MessageInput[], { codec, session }: ReturnType<typeof createEndpoint>): string[] {
  const frames: string[] = [];
  for (const input of inputs) for (const frame of codec.encode(input, session).frames) frames.push(frame);
  return frames;
}

function sizes(
  notations: readonly (readonly [name: string, texts: readonly string[]])[],
  counter: TokenCounter,
): FactSection {
  const [[, json]] = notations as [readonly [string, readonly string[]]];
  const tokensOf = (texts: readonly string[]): number => texts.reduce((sum, text) => sum + counter.count(text), 0);
  const jsonTokens = tokensOf(json);
  return {
    kind: 'facts',
    id: 'own-sizes',
    title: json.length === 1 ? 'One message' : `${json.length} messages`,
    columns: ['', 'texts', 'characters', 'x JSON', 'tokens', 'x JSON'],
    rows: notations.map(([name, texts]) => {
      const tokens = tokensOf(texts);
      const characters = lengthOf(texts);
      return [
        name,
        texts.length,
        characters,
        significant(characters / lengthOf(json)),
        tokens,
        significant(tokens / jsonTokens),
      ];
    }),
    note: counter.exact
      ? `Tokens: ${counter.encoding}. The first JSON has the envelope of the frame: identifier, number, time.`
      : 'Tokens are estimated, because the package gpt-tokenizer is not installed. The first JSON has the envelope of the frame.',
  };
}

function lengthOf(texts: readonly string[]): number {
  return texts.reduce((sum, { length }) => sum + length, 0);
}
