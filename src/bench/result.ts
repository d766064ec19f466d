/** The results as data. */
import type { Machine } from './machine.js';
import type { RunnerResult } from './race.js';

export interface RaceSection {
  readonly kind: 'race';
  readonly id: string;
  readonly title: string;
  /** The noun for the items of a pass, such as "frame". */
  readonly unit: string;
  readonly anchor: string;
  readonly groups: readonly RaceGroup[];
  readonly missing?: readonly { readonly name: string; readonly why: string }[];
  readonly note?: string;
}

export interface RaceGroup {
  readonly name: string;
  /** The items of one pass, and their characters. */
  readonly units: number;
  readonly characters: number;
  readonly results: readonly RunnerResult[];
}

/** A table of facts, without a comparison. */
export interface FactSection {
  readonly kind: 'facts';
  readonly id: string;
  readonly title: string;
  readonly columns: readonly string[];
  readonly rows: readonly (readonly (string | number)[])[];
  readonly note?: string;
}

export type Section = RaceSection | FactSection;

export interface Report {
  /** The date in ISO 8601. */
  readonly date: string;
  readonly machine: Machine;
  readonly versions: Readonly<Record<string, string>>;
  readonly sections: readonly Section[];
}
