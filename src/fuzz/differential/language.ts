/** A language for the tools: its grammar, and the reference reader that answers are compared with. */

import type { Grammar } from '../grammar/grammar.js';
import type { DisagreementKind } from './oracle.js';
import type { Answer, Json } from './target.js';

/** A bound on the nesting of some rules. */
interface NestingLimit {
  readonly rules: readonly string[];
  readonly max: number;
  readonly checks: readonly string[];
}

/** A language that texts are generated for and that implementations are tested with. */
export interface Language {
  /** The name for messages and file names: `accp`, `aacp`, or the name of a grammar. */
  readonly name: string;
  /** The grammar of the language, after gates and narrowing. */
  readonly grammar: Grammar;
  /**
   * A grammar for the same texts that expresses in rules, as far as possible, what {@link grammar} checks by code.
   * Exports start from it.
   */
  readonly exportable: Grammar;
  /** `true` if the grammar accepts fewer texts than the dialect. */
  readonly narrowed: boolean;
  /** The dialect; null if the language has no dialects. */
  readonly dialect: string | null;
  /** The nesting limit that the grammar enforces by code and that an export can expand into rules; null if there is none. */
  readonly depth: NestingLimit | null;
  /**
   * Texts that some rules should often generate, by the name of the rule: keys that have a meaning of their own, which
   * random texts would rarely contain. @default none
   */
  readonly words?: Readonly<Record<string, readonly string[]>> | undefined;
  /**
   * Reads a text with the reference reader. It accepts the whole dialect: a text outside of a narrowed language may
   * still be a message, and an implementation under test does not know of the narrowing. `grammar.accepts` checks the
   * narrowed language.
   */
  readonly read: (text: string) => Answer;
  /** Returns the document and the section that an answer of `read` follows from, for reports. */
  readonly basisOf?: ((reference: Answer, kind: DisagreementKind) => string) | undefined;
}

/**
 * Makes a language of a grammar alone. Its reader accepts or rejects, with the offset; the result of the parser is the
 * tree if JSON can express it.
 */
export function grammarLanguage(grammar: Grammar): Language {
  const read = (text: string): Answer => {
    const verdict = grammar.parse(text);
    return verdict.ok ? { ok: true, ...treeOf(verdict.value) } : { ok: false, ...placeOf(verdict.error) };
  };
  return { name: grammar.name, grammar, exportable: grammar, narrowed: false, dialect: null, depth: null, read };
}

/** Converts a result to a tree. A result that JSON cannot express, such as a function or a cyclic object, gives no tree. */
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

/** Converts a tree to the form of the conformance cases: numbers that JSON cannot express become strings. */
export function jsonTree(tree: unknown): Json {
  const text = JSON.stringify(tree, (_name, member: unknown) =>
    typeof member === 'bigint' || member === Number.POSITIVE_INFINITY || member === Number.NEGATIVE_INFINITY
      ? String(member)
      : member,
  );
  return JSON.parse(text) as Json;
}
