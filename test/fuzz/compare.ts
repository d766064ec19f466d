/**
 * Holds all that read a text against what Peggy alone makes of the grammar: the generated parser, with its other ways in; the
 * parser written by hand; the Ohm grammar, which was written from the draft and not from that grammar; the ABNF, run by apg-js.
 */
import { isDeepStrictEqual } from 'node:util';
import type { Input, Language } from './languages.js';
import {
  type Outcome,
  type ReadOptions,
  readByHand,
  readFast,
  readStock,
  readWithOhm,
  recognizeFast,
  recognizeWithApg,
  type ShortError,
  type ToldError,
} from './readers.js';

/** What is held against stock Peggy; `envelope` stands for that start rule in both parsers that Peggy makes. */
export const READERS = ['fast', 'recognize', 'envelope', 'hand', 'ohm', 'apg'] as const;
export type Reader = (typeof READERS)[number];

export interface Disagreement {
  readonly reader: Reader;
  /** How the text was read; see {@link READINGS}. */
  readonly reading: string;
  readonly expected: unknown;
  readonly given: unknown;
}

export interface Comparison {
  readonly accepted: boolean;
  /** Who has read the text, beside stock Peggy. */
  readonly readers: ReadonlySet<Reader>;
  readonly disagreements: readonly Disagreement[];
}

/** The options that each text is read with; the parser written by hand, the Ohm grammar and the ABNF have none. */
const READINGS: Readonly<Record<string, ReadOptions>> = {
  plain: {},
  spans: { spans: true },
  // So narrow that many texts meet with a limit before they meet with anything else.
  limits: { maxDepth: 1, maxItems: 4, maxDigits: 3 },
};

/** Whether a reader knows a language. */
export function takesPart(reader: Reader, { protocol, dialect }: Language): boolean {
  if (reader === 'envelope') return protocol === 'accp';
  return (reader !== 'hand' && reader !== 'apg') || dialect === 'strict';
}

/** Reads a text in all ways; without Ohm, where that would take too long. */
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
    if (takesPart('envelope', input)) {
      const envelopeOptions = { ...options, startRule: 'envelope' };
      const envelope = envelopeOf(stock);
      hold('envelope', reading, readFast(input, envelopeOptions), envelope);
      hold('envelope', `${reading}, stock`, readStock(input, envelopeOptions), envelope);
    }
  }

  if (takesPart('hand', input)) {
    const byHand = readByHand(input);
    hold('hand', 'plain', byHand, isOtherFault(byHand, plain) ? byHand : asToldByHand(plain, input));
  }
  if (takesPart('apg', input) && isJudgedByAbnf(plain)) {
    hold('apg', 'plain', recognizeWithApg(input), plain.kind === 'accepted');
  }
  if (withOhm) hold('ohm', 'plain', readWithOhm(input), plain.kind === 'refused' ? { ...plain, error: null } : plain);
  return { accepted: plain.kind === 'accepted', readers, disagreements };
}

/**
 * Whether ABNF has a say: repeated keys and limits are beyond it, and what comes behind them in the text nobody has looked at.
 */
function isJudgedByAbnf(stock: Outcome): boolean {
  return stock.kind !== 'refused' || stock.error.reason === undefined;
}

/** What is to be read of an envelope: the frame but for its payload, or the same error. */
function envelopeOf(frame: Outcome): Outcome {
  if (frame.kind !== 'accepted') return frame;
  const { payload: _payload, ...rest } = frame.tree as Readonly<Record<string, unknown>>;
  return { kind: 'accepted', tree: { ...rest, kind: 'envelope' } };
}

/** An error in the terms of the parser written by hand, which refuses a frame that is not ASCII before it begins to read it. */
function asToldByHand(stock: Outcome, { protocol, text }: Input): Outcome<ShortError> {
  if (stock.kind !== 'refused') return stock;
  const stranger = protocol === 'accp' ? text.search(/[^\0-\x7f]/) : -1;
  return { kind: 'refused', error: stranger < 0 ? shortened(stock.error) : { reason: 'syntax', offset: stranger } };
}

function shortened({ reason, location }: ToldError): ShortError {
  return { reason: reason ?? 'syntax', offset: location.start.offset };
}

/**
 * Whether the two may tell different errors because a text has two: a key is repeated, and something behind it is wrong. The
 * parser written by hand refuses the key as soon as it has read it. The grammar looks at keys when their values are read.
 */
function isOtherFault(byHand: Outcome<ShortError>, stock: Outcome): boolean {
  if (byHand.kind !== 'refused' || stock.kind !== 'refused') return false;
  const { reason, offset } = byHand.error;
  return reason === 'duplicate-key' && offset < stock.error.location.start.offset;
}
