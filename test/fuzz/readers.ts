/**
 * The readers: the generated parsers, stock Peggy's parsers of the same grammars, the hand-written parsers, the Ohm
 * grammars, and the ABNF grammars. All return their outcomes in the same form.
 */
import { readFileSync } from 'node:fs';
import { HandRefusal as PacketRefusal, parseByHand as parsePacketByHand } from '../../bench/candidates/hand-aacp.js';
import { HandRefusal as FrameRefusal, parseByHand as parseFrameByHand } from '../../bench/candidates/hand-accp.js';
import * as aacp from '../../generated/aacp.js';
import * as accp from '../../generated/accp.js';
import { parseWithOhm as readPacket } from '../oracle/aacp.js';
import { parseWithOhm as readFrame } from '../oracle/accp.js';
import { evaluate, generate } from '../peggy-fast/agreement.js';
import { recognizerOf } from './apg.js';
import type { Input, Language } from './languages.js';

/** The outcome of a text. A parser has crashed if it throws something other than a rejection. */
export type Outcome<Reported = ReportedError> =
  | { readonly kind: 'accepted'; readonly tree: unknown }
  | { readonly kind: 'refused'; readonly error: Reported }
  | { readonly kind: 'crashed'; readonly thrown: string };

/** The compared members of the errors of parsers that Peggy generates. */
export interface ReportedError {
  readonly name: unknown;
  readonly message: unknown;
  readonly expected: unknown;
  readonly found: unknown;
  readonly location: { readonly start: { readonly offset: number } };
  readonly reason: string | undefined;
}

/** The members of an error of the hand-written parsers. */
export interface ShortError {
  readonly reason: string;
  readonly offset: number;
}

/** The options of a parser that Peggy generates. */
export type ReadOptions = Readonly<Record<string, unknown>>;

interface PeggyParser {
  readonly parse: (text: string, options: ReadOptions) => unknown;
  readonly SyntaxError: new (...details: never[]) => Error;
}

interface FastParser extends PeggyParser {
  readonly recognize: (text: string, options: ReadOptions) => boolean;
  readonly StartRules: readonly string[];
}

type Protocol = Language['protocol'];

const FAST = { accp, aacp } as unknown as Readonly<Record<Protocol, FastParser>>;
const STOCK: Readonly<Record<Protocol, PeggyParser>> = { accp: stockParser('accp'), aacp: stockParser('aacp') };

function stockParser(protocol: Protocol): PeggyParser {
  const source = `grammar/${protocol}.peggy`;
  const text = readFileSync(new URL(`../../${source}`, import.meta.url), 'utf8');
  return evaluate(generate([{ source, text }], { allowedStartRules: [...FAST[protocol].StartRules] }));
}

/** The generated parser. */
export function readFast({ protocol, dialect, text }: Input, options: ReadOptions): Outcome {
  return readWithPeggy(FAST[protocol], text, { ...options, dialect });
}

/** The verdict of the generated parser, without a result. */
export function recognizeFast({ protocol, dialect, text }: Input, options: ReadOptions): boolean | string {
  try {
    return FAST[protocol].recognize(text, { ...options, dialect });
  } catch (thrown) {
    return String(thrown);
  }
}

/** The same grammar, compiled by Peggy without the plugin. */
export function readStock({ protocol, dialect, text }: Input, options: ReadOptions): Outcome {
  return readWithPeggy(STOCK[protocol], text, { ...options, dialect });
}

function readWithPeggy({ parse, SyntaxError: Refusal }: PeggyParser, text: string, options: ReadOptions): Outcome {
  try {
    return { kind: 'accepted', tree: parse(text, options) };
  } catch (thrown) {
    if (!(thrown instanceof Refusal)) return { kind: 'crashed', thrown: String(thrown) };
    const { name, message, expected, found, location, reason } = thrown as Error & ReportedError;
    return { kind: 'refused', error: { name, message, expected, found, location, reason } };
  }
}

/** The hand-written parser. It supports only the strict dialect. */
export function readByHand({ protocol, text }: Input): Outcome<ShortError> {
  try {
    return { kind: 'accepted', tree: protocol === 'accp' ? parseFrameByHand(text) : parsePacketByHand(text) };
  } catch (thrown) {
    if (!(thrown instanceof FrameRefusal || thrown instanceof PacketRefusal)) {
      return { kind: 'crashed', thrown: String(thrown) };
    }
    return { kind: 'refused', error: { reason: thrown.reason, offset: thrown.offset } };
  }
}

/** The Ohm grammar. Its errors are not compared: other grammars have other expectations. */
export function readWithOhm(input: Input): Outcome<null> {
  const { text } = input;
  try {
    const tree = input.protocol === 'accp' ? readFrame(text, input.dialect) : readPacket(text, input.dialect);
    return tree === null ? { kind: 'refused', error: null } : { kind: 'accepted', tree };
  } catch (thrown) {
    return { kind: 'crashed', thrown: String(thrown) };
  }
}

const APG = { accp: recognizerOf('accp'), aacp: recognizerOf('aacp') };

/** The verdict of the ABNF grammar. It supports only the strict dialect, and no limits. */
export function recognizeWithApg({ protocol, text }: Input): boolean | string {
  try {
    return APG[protocol](text);
  } catch (thrown) {
    return String(thrown);
  }
}
