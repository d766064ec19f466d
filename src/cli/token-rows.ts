/** Lines of any kind, by their tokens: what a line is, and what else could say the same. */
import { tryParsePacket } from '../aacp/index.js';
import { type Dialect, tryParseFrame } from '../accp/index.js';
import { plainFrame, plainPacket } from '../bench/plain.js';
import { type ComparisonInput, compareTokens, type Form } from '../tokens/compare.js';
import { countTokens } from '../tokens/count.js';
import type { Encoding } from '../tokens/encodings.js';

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
  const [{ tokens }, { forms, missing, exact }] = await Promise.all([
    countTokens(text, encoding),
    compareTokens(input, { encoding }),
  ]);
  const bodyOf = (form: Form): number | null => forms.find((one) => one.form === form)?.body ?? null;
  return {
    kind,
    tokens,
    body: bodyOf('accp') ?? (bodyOf('json') === null ? null : tokens),
    jsonPretty: bodyOf('json-pretty'),
    json: bodyOf('json'),
    toon: bodyOf('toon'),
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
      // Only between the payload and the metadata does a bracket follow a brace.
      frameBody: metadata === null ? text : text.slice(0, text.lastIndexOf('}[') + 1),
    };
  },
  packet(text) {
    const result = tryParsePacket(text, { dialect: 'tolerant' });
    return result.ok ? { message: plainPacket(result.value) as object } : {};
  },
  json(text) {
    const message = documentOf(text);
    return message === null ? {} : { message };
  },
  english: () => ({}),
};

function documentOf(text: string): object | null {
  try {
    return JSON.parse(text) as object;
  } catch {
    return null;
  }
}
