import { resolveChoice } from '../text/limits.js';
import { ENCODINGS, type Encoding } from './counter.js';
import { loadTokenCounter } from './load-counter.js';

/** The notations, in the order of a comparison. */
export const NOTATIONS = ['english', 'json-pretty', 'json', 'toon', 'accp', 'aacp'] as const;

/** A notation: English, JSON, TOON, an ACCP frame or an AACP packet. */
export type Notation = (typeof NOTATIONS)[number];

/** The input of a comparison. Notations that cannot be derived from it are not in the result. */
export interface ComparisonInput {
  /**
   * A message of any protocol, or a JSON document, which is compared as JSON, pretty-printed and compact, and as TOON. `body` omits its
   * member `envelope`. A `bigint` becomes a string of digits.
   */
  readonly message?: object | undefined;
  /** The message in English. */
  readonly english?: string | undefined;
  /** The ACCP frame with metadata. */
  readonly frame?: string | undefined;
  /** The ACCP frame without metadata. */
  readonly frameBody?: string | undefined;
  /** The AACP packet. */
  readonly packet?: string | undefined;
}

/** Options of {@link compareTokens}. */
export interface ComparisonOptions {
  /** The vocabulary. @default 'o200k_base' */
  readonly encoding?: Encoding | undefined;
}

/** The token counts of one notation, at least one of which is a number. */
export interface NotationCount {
  /** The notation. */
  readonly notation: Notation;
  /** The number of tokens without the envelope; `null` if only the message with envelope was given. */
  readonly body: number | null;
  /** The number of tokens with the envelope; `null` if there is none. */
  readonly total: number | null;
}

/** The result of {@link compareTokens}. */
export interface Comparison {
  /** The name of the vocabulary that it counts with. */
  readonly encoding: Encoding;
  /** `false` if the counts are estimates, because the package gpt-tokenizer is not installed. */
  readonly exact: boolean;
  /** The counts, in the order of {@link NOTATIONS}. */
  readonly counts: readonly NotationCount[];
  /** The notations that could not be written, with the reason. */
  readonly skipped: readonly { readonly notation: Notation; readonly reason: string }[];
}

/**
 * Counts the tokens of a message in several notations: English, JSON indented by two spaces, compact JSON, TOON, an ACCP frame and an AACP
 * packet. Encode the frame with your codec, so that its spelling is counted.
 *
 * @throws TypeError if the encoding is unknown
 * @example
 * const { frames: [frame] } = codec.encode(message, session);
 * const { counts } = await compareTokens({ message, english: 'Please find all cats.', frame });
 */
export async function compareTokens(input: ComparisonInput, { encoding }: ComparisonOptions = {}): Promise<Comparison> {
  const chosen = resolveChoice('encoding', encoding, ENCODINGS);
  const [{ count, exact }, toon] = await Promise.all([loadTokenCounter(chosen), loadToon()]);
  const { message, english, frame, frameBody, packet } = input;
  const counts: NotationCount[] = [];
  const skipped: { notation: Notation; reason: string }[] = [];
  const add = (notation: Notation, body: string | undefined, total: string | undefined): void => {
    if (body === undefined && total === undefined) return;
    counts.push({
      notation,
      body: body === undefined ? null : count(body),
      total: total === undefined ? null : count(total),
    });
  };

  add('english', english, undefined);
  if (message !== undefined) {
    const { body, whole } = withoutEnvelope(message);
    const addJson = (notation: Notation, write: (value: object) => string): void =>
      add(notation, write(body), whole === undefined ? undefined : write(whole));
    addJson('json-pretty', (value) => json(value, 2));
    addJson('json', (value) => json(value));
    if (toon === null) skipped.push({ notation: 'toon', reason: '@toon-format/toon is not installed' });
    else addJson('toon', toon);
  }
  add('accp', frameBody, frame);
  add('aacp', packet, undefined);
  return { encoding: chosen, exact, counts, skipped };
}

function withoutEnvelope(message: object): { readonly body: object; readonly whole: object | undefined } {
  if (Array.isArray(message) || (message as { envelope?: unknown }).envelope === undefined) {
    return { body: message, whole: undefined };
  }
  const { envelope: _, ...body } = message as { readonly envelope: unknown };
  return { body, whole: message };
}

/** Writes JSON; a `bigint` becomes a string. */
function json(value: unknown, indent?: number): string {
  return JSON.stringify(
    value,
    (_key, member: unknown) => (typeof member === 'bigint' ? String(member) : member),
    indent,
  );
}

/** Loads the encoder of TOON. @returns `null` if the optional dependency `@toon-format/toon` is not installed */
async function loadToon(): Promise<((value: unknown) => string) | null> {
  try {
    const { encode } = await import('@toon-format/toon');
    // Converted by way of JSON, so that both have the same content.
    return (value) => encode(JSON.parse(json(value)));
  } catch (thrown) {
    if ((thrown as { readonly code?: unknown }).code === 'ERR_MODULE_NOT_FOUND') return null;
    throw thrown;
  }
}
