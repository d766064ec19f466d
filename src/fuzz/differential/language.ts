/** A language as the tools take it: its grammar, and what its reference reader says of a text. */

import type { Grammar } from '../grammar/grammar.js';
import type { DisagreementKind } from './oracle.js';
import type { Answer, Json } from './target.js';

/** Rules that together nest at most `max` deep, and the rules that check so by code: counted out, the latter are not needed. */
interface NestingLimit {
  readonly rules: readonly string[];
  readonly max: number;
  readonly checks: readonly string[];
}

export interface Language {
  /** For messages and file names: `accp`, `aacp`, or the name of a grammar. */
  readonly name: string;
  /** The language's own, after gates and narrowing. */
  readonly grammar: Grammar;
  /** The same texts, by rules instead of code where that can be: for other engines. */
  readonly exportable: Grammar;
  /** Whether the grammar has fewer texts than the dialect. */
  readonly narrowed: boolean;
  /** Null where there are no dialects. */
  readonly dialect: string | null;
  /**
   * What the grammar leaves to code and an export can count out: these rules together nest at most `max` deep. Null where there is
   * no such bound.
   */
  readonly depth: NestingLimit | null;
  /**
   * Texts that rules of the grammar are known to have, and that random ones would rarely meet: keys with a meaning of their own.
   * Absent where there are none to know.
   */
  readonly words?: Readonly<Record<string, readonly string[]>> | undefined;
  /**
   * What the reference reader says of a text. It reads the whole dialect: a text outside a narrowed language may still be a
   * message, and an implementation under test knows nothing of the narrowing. `grammar.accepts` tells the narrowed language.
   */
  readonly read: (text: string) => Answer;
  /** What an answer of `read` rests on, for whoever was held against it and disagrees: a document and its section. */
  readonly basisOf?: ((reference: Answer, kind: DisagreementKind) => string) | undefined;
}

/** The language of a grammar by itself: it says yes or no and where, and its results are the trees, where JSON has them. */
export function grammarLanguage(grammar: Grammar): Language {
  const read = (text: string): Answer => {
    const verdict = grammar.parse(text);
    return verdict.ok ? { ok: true, ...treeOf(verdict.value) } : { ok: false, ...placeOf(verdict.error) };
  };
  return { name: grammar.name, grammar, exportable: grammar, narrowed: false, dialect: null, depth: null, read };
}

/** A result as a tree. What JSON cannot write, such as a function or a tree that holds itself, is no tree. */
function treeOf(value: unknown): { readonly ast?: Json } {
  try {
    return value === undefined ? {} : { ast: jsonTree(value) };
  } catch {
    return {};
  }
}

function placeOf(error: unknown): { readonly offset?: number; readonly message?: string } {
  if (!(error instanceof Error)) return {};
  const { location } = error as Error & { readonly location?: { readonly start: { readonly offset: number } } };
  return location === undefined
    ? { message: error.message }
    : { offset: location.start.offset, message: error.message };
}

/** A tree in the form of the conformance cases: what JSON has no number for becomes a string. */
export function jsonTree(tree: unknown): Json {
  const text = JSON.stringify(tree, (_name, member: unknown) =>
    typeof member === 'bigint' || member === Number.POSITIVE_INFINITY || member === Number.NEGATIVE_INFINITY
      ? String(member)
      : member,
  );
  return JSON.parse(text) as Json;
}
