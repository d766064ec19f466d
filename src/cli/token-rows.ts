/** Lines of any kind, by their tokens: what a line is, and what else could say the same. */
import { fromObject } from '../aacp/build/index.js';
import { printPacket, tryParsePacket } from '../aacp/index.js';
import { type Dialect, tryParseFrame } from '../accp/index.js';
import { createCodec, createSession } from '../accp/session/index.js';
import { plainFrame, plainPacket } from '../bench/plain.js';
import { PegwireError } from '../text/errors.js';
import { type ComparisonInput, compareTokens, type Form } from '../tokens/compare.js';
import type { Encoding } from '../tokens/counter.js';
import { countTokens } from '../tokens/load-counter.js';
import { readMessage } from './message-input.js';

export const KINDS = ['frame', 'packet', 'json', 'english'] as const;

export type Kind = (typeof KINDS)[number];

/** The counts of one line; `null` where there is no such form. */
export interface TokenRow {
  readonly kind: Kind;
  /** Of the line as it stands. */
  readonly tokens: number;
  /** Of a frame without its metadata, or of the line where it has none; for what JSON and TOON are held against. */
  readonly body: number | null;
  /** Of the same message, without metadata. */
  readonly jsonPretty: number | null;
  readonly json: number | null;
  readonly toon: number | null;
  /** As an ACCP frame: without metadata, and with `mid`, `seq` and `ts`, or the envelope that the message has. */
  readonly accp: number | null;
  readonly accpEnvelope: number | null;
  /** As an AACP packet: of a packet, and of JSON with a task and a domain. */
  readonly aacp: number | null;
  /** Of English, and of the text that a JSON message has in its member `english`. */
  readonly english: number | null;
  readonly exact: boolean;
  readonly toonMissing: boolean;
}

/** How texts are read and counted. */
export interface RowOptions {
  readonly encoding: Encoding;
  readonly dialect: Dialect;
}

/** Counts one line. What looks like a message and is none is counted all the same. */
export async function tokenRow(text: string, { encoding, dialect }: RowOptions): Promise<TokenRow> {
  const kind = kindOf(text);
  const input = READERS[kind](text, dialect);
  const counted = (form: string | undefined): Promise<number | null> =>
    form === undefined ? Promise.resolve(null) : countTokens(form, encoding).then(({ tokens }) => tokens);
  const [{ tokens }, { forms, missing, exact }, accp, accpEnvelope, aacp, english] = await Promise.all([
    countTokens(text, encoding),
    compareTokens(
      kind === 'frame' ? { message: input.message, frameBody: input.frameBody } : { message: input.message },
      {
        encoding,
      },
    ),
    counted(input.frameBody),
    counted(input.frame),
    counted(input.packet),
    counted(input.english),
  ]);
  const bodyOf = (form: Form): number | null => forms.find((one) => one.form === form)?.body ?? null;
  return {
    kind,
    tokens,
    body: bodyOf('accp') ?? (bodyOf('json') === null ? null : tokens),
    jsonPretty: bodyOf('json-pretty'),
    json: bodyOf('json'),
    toon: bodyOf('toon'),
    ...{ accp, accpEnvelope, aacp, english },
    exact,
    toonMissing: missing.length > 0,
  };
}

/** What a line is, by its shape. */
function kindOf(text: string): Kind {
  if (/^@[^\s>]*>/.test(text)) return 'frame';
  if (/^[A-Za-z]+\|[A-Za-z]*\|/.test(text)) return 'packet';
  return /^\s*[{[]/.test(text) && documentOf(text) !== null ? 'json' : 'english';
}

/** What of a line can be compared, besides itself. */
const READERS: Readonly<Record<Kind, (text: string, dialect: Dialect) => ComparisonInput>> = {
  frame(text, dialect) {
    const result = tryParseFrame(text, { dialect });
    if (!result.ok) return {};
    const { metadata } = result.value;
    return {
      message: plainFrame({ ...result.value, metadata: null }) as object,
      frameBody: metadata === null ? text : withoutMetadata(text),
      frame: metadata === null ? undefined : text,
    };
  },
  packet(text) {
    const result = tryParsePacket(text, { dialect: 'tolerant' });
    return result.ok ? { message: plainPacket(result.value) as object, packet: text } : {};
  },
  json(text) {
    const document = documentOf(text);
    if (document === null) return {};
    const { english, ...message } = document as { readonly english?: unknown };
    if (Array.isArray(document) || typeof english !== 'string') return { message: document, ...written(document) };
    return { message, english, ...written(message) };
  },
  english: (text) => ({ english: text }),
};

/** What a message without an envelope gets, so that the same message has the same number of tokens each time. */
const ENVELOPE = { msg_id: 'c40861273305', timestamp: 1_714_000_000 };

/** A JSON message as a frame, or as a packet, by its members; nothing where it is neither, or cannot be written. */
function written(message: object): Pick<ComparisonInput, 'frame' | 'frameBody' | 'packet'> {
  try {
    if ('intent' in message && 'operation' in message) return asFrames(message);
    if ('task' in message && 'domain' in message) {
      const { fields, ...others } = message as { readonly fields?: unknown };
      const flat = typeof fields === 'object' && fields !== null && !Array.isArray(fields) ? fields : { fields };
      return { packet: printPacket(fromObject({ ...others, ...flat })) };
    }
    return {};
  } catch (thrown) {
    if (thrown instanceof PegwireError) return {};
    throw thrown;
  }
}

function asFrames(message: object): Pick<ComparisonInput, 'frame' | 'frameBody'> {
  const read = readMessage(JSON.stringify(message), { refs: false, keepEnvelope: false }).message;
  if (typeof read === 'string') return {};
  const session = createSession({ agent: read.agent ?? 'sender' });
  const { frames } = createCodec({ text: 'transliterate', state: false }).encode(
    { ...read, envelope: { ...ENVELOPE, ...read.envelope } },
    session,
  );
  session.close();
  // One session is told from another by what carries the frames.
  const whole = frames.map((frame) => frame.replace(/,sid:[^,\]]*/, ''));
  return { frame: whole.join('\n'), frameBody: frames.map(withoutMetadata).join('\n') };
}

/** Only between the payload and the metadata does a bracket follow a brace. */
function withoutMetadata(frame: string): string {
  return frame.slice(0, frame.lastIndexOf('}[') + 1);
}

function documentOf(text: string): object | null {
  try {
    return JSON.parse(text) as object;
  } catch {
    return null;
  }
}
