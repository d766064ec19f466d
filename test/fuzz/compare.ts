/**
 * Compares all readers of a text with stock Peggy's parser of the grammar: the generated parser, through all its entry
 * points; the hand-written parser; the Ohm grammar, which was written from the draft and not from that grammar; and the
 * ABNF in apg-js.
 */
import { isDeepStrictEqual } from 'node:util';
import type { Input, Language } from './languages.js';
import {
  type Outcome,
  type ReadOptions,
  type ReportedError,
  readByHand,
  readFast,
  readStock,
  readWithOhm,
  recognizeFast,
  recognizeWithApg,
  type ShortError,
} from './readers.js';

/** The readers that are compared with stock Peggy. `envelope` stands for that start rule in both parsers that Peggy generates. */
export const READERS = ['fast', 'recognize', 'envelope', 'hand', 'ohm', 'apg'] as const;
export type Reader = (typeof READERS)[number];

export interface Disagreement {
  readonly reader: Reader;
  /** The options of the reading; see {@link READINGS}. */
  readonly reading: string;
  readonly expected: unknown;
  readonly given: unknown;
}

export interface Comparison {
  readonly accepted: boolean;
  /** The readers that took part, besides stock Peggy. */
  readonly readers: ReadonlySet<Reader>;
  readonly disagreements: readonly Disagreement[];
}

/** The options that each text is read with. The hand-written parser, the Ohm grammar and the ABNF have none. */
const READINGS: Readonly<Record<string, ReadOptions>> = {
  plain: {},
  spans: { spans: true },
  // So narrow that many texts reach a limit before another error.
  limits: { maxDepth: 1, maxItems: 4, maxDigits: 3 },
};

/** Returns `true` if a reader supports a language. */
export function supportsLanguage(reader: Reader, { protocol, dialect }: Language): boolean {
  if (reader === 'envelope') return protocol === 'accp';
  return (reader !== 'hand' && reader !== 'apg') || dialect === 'strict';
}

/** Reads a text with all readers; without Ohm if that would take too long. */
export function compare(input: Input, { withOhm = true }: { readonly withOhm?: boolean } = {}): Comparison {
  const disagreements: Disagreement[] = [];
  const readers = new Set<Reader>();
  const hold = (reader: Reader, reading: string, given: unknown, expected: unknown): void => {
    readers.add(reader);
    if (!isDeepStrictEqual(given, expected)) disagreements.push({ reader, reading, expected, given });
  };

  const plain = readStock(input, READINGS['plain']!);
  for (const [reading, options] of Object.entries(READINGS)) {
    const stock = reading === 'plain' ? plain : readStock(input, options);
    hold('fast', reading, readFast(input, options), stock);
    hold('recognize', reading, recognizeFast(input, options), stock.kind === 'accepted');
    if (supportsLanguage('envelope', input)) {
      const envelopeOptions = { ...options, startRule: 'envelope' };
      const envelope = envelopeOf(stock);
      hold('envelope', reading, readFast(input, envelopeOptions), envelope);
      hold('envelope', `${reading}, stock`, readStock(input, envelopeOptions), envelope);
    }
  }

  if (supportsLanguage('hand', input)) {
    const byHand = readByHand(input);
    hold('hand', 'plain', byHand, isOtherFault(byHand, plain) ? byHand : inTermsOfHand(plain, input));
  }
  if (supportsLanguage('apg', input) && isDecidedByAbnf(plain)) {
    hold('apg', 'plain', recognizeWithApg(input), plain.kind === 'accepted');
  }
  if (withOhm) hold('ohm', 'plain', readWithOhm(input), plain.kind === 'refused' ? { ...plain, error: null } : plain);
  return { accepted: plain.kind === 'accepted', readers, disagreements };
}

/** Returns `true` if the ABNF decides about a text. Repeated keys and limits are beyond it, and so is the rest of the text after them. */
function isDecidedByAbnf(stock: Outcome): boolean {
  return stock.kind !== 'refused' || stock.error.reason === undefined;
}

/** The expected result for the envelope: the frame without its payload, or the same error. */
function envelopeOf(frame: Outcome): Outcome {
  if (frame.kind !== 'accepted') return frame;
  const { payload: _payload, ...rest } = frame.tree as Readonly<Record<string, unknown>>;
  return { kind: 'accepted', tree: { ...rest, kind: 'envelope' } };
}

/** An error in terms of the hand-written parser, which rejects a frame that is not ASCII before it begins to read it. */
function inTermsOfHand(stock: Outcome, { protocol, text }: Input): Outcome<ShortError> {
  if (stock.kind !== 'refused') return stock;
  const nonAscii = protocol === 'accp' ? text.search(/[^\0-\x7f]/) : -1;
  return { kind: 'refused', error: nonAscii < 0 ? shortened(stock.error) : { reason: 'syntax', offset: nonAscii } };
}

function shortened({ reason, location }: ReportedError): ShortError {
  return { reason: reason ?? 'syntax', offset: location.start.offset };
}

/**
 * Returns `true` if the errors may differ because the text has two: a repeated key, and a fault after it. The
 * hand-written parser rejects the key as soon as it has read it, the grammar after its value.
 */
function isOtherFault(byHand: Outcome<ShortError>, stock: Outcome): boolean {
  if (byHand.kind !== 'refused' || stock.kind !== 'refused') return false;
  const { reason, offset } = byHand.error;
  return reason === 'duplicate-key' && offset < stock.error.location.start.offset;
}
