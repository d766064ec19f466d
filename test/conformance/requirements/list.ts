/** The lists of requirements as typed data, validated by `requirements.schema.json`. */
import { readFileSync } from 'node:fs';

/** The key words of BCP 14 that the specifications use. */
export type Keyword = 'MUST' | 'MUST NOT' | 'REQUIRED' | 'SHOULD' | 'SHOULD NOT' | 'RECOMMENDED' | 'MAY';

/** A requirement of a specification, with the tests that cover it. */
export interface Requirement {
  readonly id: string;
  /** The number of the section, or `abstract`; its heading if sections have no numbers. */
  readonly section: string;
  /**
   * The requirement level. A `defined` requirement is stated without a key word; a `reading` is pegwire's interpretation where the
   * specification contradicts itself or leaves a question open.
   */
  readonly level: Keyword | 'defined' | 'reading';
  readonly kind: 'requirement' | 'table-row' | 'step' | 'reading';
  /** The lowest conformance level that includes the requirement, if the specification has levels. */
  readonly conformance?: 1 | 2 | 3;
  /** The key word that the entry accounts for: each occurrence has one entry. */
  readonly keyword?: Keyword;
  /** The table of which the entry is a row. */
  readonly table?: string;
  /** The number of the item in the list of its section. */
  readonly item?: number;
  /** The words that the section defines. */
  readonly values?: readonly string[];
  readonly text: string;
  /** The tests, as `file > describe > test`. */
  readonly tests: readonly string[];
  /** The reason why the requirement is not met, or not testable. */
  readonly exception?: string;
  /** The reason why the requirement is not met yet. */
  readonly later?: string;
}

/** A conformance level of a specification. */
export interface ConformanceLevel {
  readonly level: 1 | 2 | 3;
  readonly title: string;
  readonly about: string;
}

/** The content of a file such as `accp.json`. */
export interface RequirementList {
  readonly protocol: string;
  readonly source: string;
  readonly scope: string;
  /** A note at the beginning of the page. */
  readonly note?: string;
  /** The conformance levels; empty if the specification has none. */
  readonly levels: readonly ConformanceLevel[];
  /** The number of occurrences of each key word in each section. */
  readonly keywords: Readonly<Record<string, Readonly<Record<string, number>>>>;
  /** The number of rows of each table. */
  readonly tables: Readonly<Record<string, number>>;
  /** The number of items in the list of each section. */
  readonly items: Readonly<Record<string, number>>;
  /** The number of words that each section defines. */
  readonly values: Readonly<Record<string, number>>;
  /** The ids of all entries, if the specification has no numbers by which they can be counted. */
  readonly ids?: readonly string[];
  readonly requirements: readonly Requirement[];
}

/** The names of the lists. */
export const LISTS = ['accp', 'aacp', 'arcp'] as const;

/** Reads a list. */
export function readRequirements(name: (typeof LISTS)[number]): RequirementList {
  return JSON.parse(readFileSync(new URL(`${name}.json`, import.meta.url), 'utf8')) as RequirementList;
}

/** Splits a citation into file and title. */
export function citation(test: string): { readonly file: string; readonly title: string } {
  const at = test.indexOf(' > ');
  return { file: test.slice(0, at), title: test.slice(at + ' > '.length) };
}
