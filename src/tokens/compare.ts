import { resolveChoice } from '../text/limits.js';
import { ENCODINGS, type Encoding } from './counter.js';
import { loadTokenCounter } from './load-counter.js';

/** Notations in the order in which they are compared. */
export const NOTATIONS = ['english', 'json-pretty', 'json', 'toon', 'accp', 'aacp'] as const;

export type Notation = (typeof NOTATIONS)[number];

/** What is compared; what is left out is not in the result. */
export interface ComparisonInput {
  /**
   * A message of any protocol, or a JSON document, compared as JSON, pretty and compact, and as TOON. `body` omits its
   * member `envelope`. A `bigint` becomes a string of digits.
   */
  readonly message?: object | undefined;
  readonly english?: string | undefined;
  /** The frame as it goes over the wire, with its metadata. */
  readonly frame?: string | undefined;
  /** The frame without metadata. */
  readonly frameBody?: string | undefined;
  readonly packet?: string | undefined;
}

export interface ComparisonOptions {
  /** @default 'o200k_base' */
  readonly encoding?: Encoding | undefined;
}

/** One notation. At least one of its two counts is a number. */
export interface NotationCount {
  readonly notation: Notation;
  /** Tokens without envelope; `null` where only the whole was given. */
  readonly body: number | null;
  /** Tokens with the envelope; `null` where there is none. */
  readonly total: number | null;
}

export interface Comparison {
  readonly encoding: Encoding;
  /** `false` for estimates, which are made where the package gpt-tokenizer is not installed. */
  readonly exact: boolean;
  /** In the order of {@link NOTATIONS}. */
  readonly counts: readonly NotationCount[];
  /** What could not be written, and why. */
  readonly skipped: readonly { readonly notation: Notation; readonly reason: string }[];
}

/**
 * Counts the tokens of one message in the given and derivable notations: English, JSON with two spaces of indentation,
 * compact JSON, TOON, an ACCP frame, an AACP packet. `body` is without the envelope, `whole` with it. Encode the frame
 * yourself, so that the spelling of your codec is counted.
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

/** JSON has no `bigint`. */
function json(value: unknown, indent?: number): string {
  return JSON.stringify(
    value,
    (_key, member: unknown) => (typeof member === 'bigint' ? String(member) : member),
    indent,
  );
}

/** `null` if the optional dependency `@toon-format/toon` is not installed. */
async function loadToon(): Promise<((value: unknown) => string) | null> {
  try {
    const { encode } = await import('@toon-format/toon');
    // Through JSON, so that both say the same.
    return (value) => encode(JSON.parse(json(value)));
  } catch (thrown) {
    if ((thrown as { readonly code?: unknown }).code === 'ERR_MODULE_NOT_FOUND') return null;
    throw thrown;
  }
}
