/** The list of requirements as data. Its shape is held by `accp.schema.json` beside it. */
import { readFileSync } from 'node:fs';

/** A requirement of the draft, and what shows that it is met. */
export interface Requirement {
  readonly id: string;
  readonly section: string;
  /** How binding it is; `defined` is what the draft states without a key word. */
  readonly level: 'MUST' | 'MUST NOT' | 'SHOULD' | 'MAY' | 'defined';
  readonly kind: 'requirement' | 'table-row' | 'step';
  /** The lowest conformance level (section 8) that needs it. */
  readonly conformance: 1 | 2 | 3;
  /** The key word of the draft that it stands for, so that each occurrence is accounted for by one entry. */
  readonly keyword?: Requirement['level'];
  /** The table that it is a row of. */
  readonly table?: string;
  /** Its number in a numbered list of its section. */
  readonly item?: number;
  readonly text: string;
  /** `file > describe > test` */
  readonly tests: readonly string[];
  /** Why it is not met. */
  readonly exception?: string;
}

/** The file `accp.json`. */
export interface RequirementList {
  readonly source: string;
  readonly scope: string;
  /** How often each section of the draft uses each key word. */
  readonly keywords: Readonly<Record<string, Readonly<Record<string, number>>>>;
  /** How many rows each table has. */
  readonly tables: Readonly<Record<string, number>>;
  /** How many items the numbered list of a section has. */
  readonly items: Readonly<Record<string, number>>;
  readonly requirements: readonly Requirement[];
}

export function readRequirements(): RequirementList {
  return JSON.parse(readFileSync(new URL('accp.json', import.meta.url), 'utf8')) as RequirementList;
}

/** The parts of a citation. */
export function citation(test: string): { readonly file: string; readonly title: string } {
  const at = test.indexOf(' > ');
  return { file: test.slice(0, at), title: test.slice(at + ' > '.length) };
}
