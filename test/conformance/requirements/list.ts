/** The lists of requirements as data. Their shape is held by `requirements.schema.json` beside them. */
import { readFileSync } from 'node:fs';

/** Key words of BCP 14, as far as the drafts use them. */
export type Keyword = 'MUST' | 'MUST NOT' | 'REQUIRED' | 'SHOULD' | 'SHOULD NOT' | 'RECOMMENDED' | 'MAY';

/** A requirement of a draft, and what shows that it is met. */
export interface Requirement {
  readonly id: string;
  /** Its number, or `abstract`; its heading where the source numbers none. */
  readonly section: string;
  /**
   * How binding it is. `defined` is what the draft states without a key word; `reading` is how pegwire reads it where it
   * contradicts itself or says nothing.
   */
  readonly level: Keyword | 'defined' | 'reading';
  readonly kind: 'requirement' | 'table-row' | 'step' | 'reading';
  /** The lowest conformance level that needs it, where the draft has such levels. */
  readonly conformance?: 1 | 2 | 3;
  /** The key word of the draft that it stands for, so that each occurrence is accounted for by one entry. */
  readonly keyword?: Keyword;
  /** The table that it is a row of. */
  readonly table?: string;
  /** Its place in the list of its section. */
  readonly item?: number;
  /** The words that its section defines. */
  readonly values?: readonly string[];
  readonly text: string;
  /** `file > describe > test` */
  readonly tests: readonly string[];
  /** Why it is not met, or cannot be shown. */
  readonly exception?: string;
  /** Why it is not met yet: the step that it belongs to comes later. */
  readonly later?: string;
}

/** A conformance level of a draft. */
export interface ConformanceLevel {
  readonly level: 1 | 2 | 3;
  readonly title: string;
  readonly about: string;
}

/** A file such as `accp.json`. */
export interface RequirementList {
  readonly protocol: string;
  readonly source: string;
  readonly scope: string;
  /** What else a reader of the page has to know. */
  readonly note?: string;
  /** None where the draft has none. */
  readonly levels: readonly ConformanceLevel[];
  /** How often each section of the draft uses each key word. */
  readonly keywords: Readonly<Record<string, Readonly<Record<string, number>>>>;
  /** How many rows each table has. */
  readonly tables: Readonly<Record<string, number>>;
  /** How many items the list of a section has. */
  readonly items: Readonly<Record<string, number>>;
  /** How many words each section defines. */
  readonly values: Readonly<Record<string, number>>;
  /** The ids of all entries, where the source numbers nothing by which they could be counted. */
  readonly ids?: readonly string[];
  readonly requirements: readonly Requirement[];
}

/** The lists that there are. */
export const LISTS = ['accp', 'aacp', 'arcp'] as const;

export function readRequirements(name: (typeof LISTS)[number]): RequirementList {
  return JSON.parse(readFileSync(new URL(`${name}.json`, import.meta.url), 'utf8')) as RequirementList;
}

/** The parts of a citation. */
export function citation(test: string): { readonly file: string; readonly title: string } {
  const at = test.indexOf(' > ');
  return { file: test.slice(0, at), title: test.slice(at + ' > '.length) };
}
