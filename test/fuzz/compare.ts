/** Holds the generated parsers against the Ohm grammars: two readings of the same draft, written apart. */
import { readdirSync, readFileSync } from 'node:fs';
import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import { SyntaxError as PacketRefusal, parse as parsePacket } from '../../generated/aacp.js';
import { SyntaxError as FrameRefusal, parse as parseFrame } from '../../generated/accp.js';
import { packetMutants, packetTexts } from '../helpers/aacp-arbitraries.js';
import { frameMutants, frameTexts } from '../helpers/accp-arbitraries.js';
import { parseWithOhm as readPacket } from '../oracle/aacp.js';
import { parseWithOhm as readFrame } from '../oracle/accp.js';

/** A language as one of its dialects has it. */
export type Language =
  | { readonly protocol: 'accp'; readonly dialect: 'strict' | 'lenient' }
  | { readonly protocol: 'aacp'; readonly dialect: 'strict' | 'tolerant' };

/** One text for both parsers; the form of the cases in `corpus/`. */
export type Input = Language & { readonly text: string };

/** What the two made of a text: a tree, `null` where it was refused, or what a parser threw that is no refusal. */
export interface Comparison {
  readonly parser: unknown;
  readonly oracle: unknown;
}

export const LANGUAGES: readonly Language[] = [
  { protocol: 'accp', dialect: 'strict' },
  { protocol: 'accp', dialect: 'lenient' },
  { protocol: 'aacp', dialect: 'strict' },
  { protocol: 'aacp', dialect: 'tolerant' },
];

export const CORPUS = new URL('corpus/', import.meta.url);

/** The cases of all files in the corpus. */
export function corpus(): readonly Input[] {
  return readdirSync(CORPUS)
    .filter((name) => name.endsWith('.json'))
    .flatMap((name) => JSON.parse(readFileSync(new URL(name, CORPUS), 'utf8')) as Input[]);
}

export function compare(input: Input): Comparison {
  const { text } = input;
  if (input.protocol === 'accp') {
    const { dialect } = input;
    return {
      parser: outcome(() => parseFrame(text, { dialect }), FrameRefusal),
      oracle: outcome(() => readFrame(text, dialect)),
    };
  }
  const { dialect } = input;
  return {
    parser: outcome(() => parsePacket(text, { dialect }), PacketRefusal),
    oracle: outcome(() => readPacket(text, dialect)),
  };
}

/** Same verdict and, where it is "accepted", same tree: zeros with their signs, no member more or less. */
export function agree({ parser, oracle }: Comparison): boolean {
  return isDeepStrictEqual(parser, oracle);
}

function outcome(parse: () => unknown, Refusal?: new (...details: never[]) => Error): unknown {
  try {
    return parse();
  } catch (thrown) {
    if (Refusal !== undefined && thrown instanceof Refusal) return null;
    return { crash: String(thrown) };
  }
}

/** Texts of a language, as it has them and bent out of shape. */
export function texts(language: Language): fc.Arbitrary<string> {
  const [plain, bent] =
    language.protocol === 'accp'
      ? [frameTexts(language.dialect), frameMutants(language.dialect)]
      : [packetTexts(language.dialect), packetMutants(language.dialect)];
  return fc
    .oneof({ weight: 1, arbitrary: plain }, { weight: 2, arbitrary: bent })
    .filter(({ length }) => length <= 600);
}

export interface Tally {
  accepted: number;
  refused: number;
}

/**
 * Compares `count` random texts of a language and counts the verdicts.
 *
 * @throws the property's error on a disagreement, with the seed and a smaller text that shows it
 */
export function compareMany(language: Language, count: number): Tally {
  const tally: Tally = { accepted: 0, refused: 0 };
  const agrees = fc.property(texts(language), (text) => {
    const { parser, oracle } = compare({ ...language, text });
    tally[oracle === null ? 'refused' : 'accepted']++;
    if (!agree({ parser, oracle })) throw new Error(`parser: ${fc.stringify(parser)}\noracle: ${fc.stringify(oracle)}`);
  });
  fc.assert(agrees, { numRuns: count });
  return tally;
}
