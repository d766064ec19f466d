/** Results as data. */
import type { Machine } from './machine.js';
import type { Standing } from './race.js';

export interface RaceSection {
  readonly kind: 'race';
  readonly id: string;
  readonly title: string;
  /** The noun for what one pass handles: "frame". */
  readonly unit: string;
  readonly anchor: string;
  readonly groups: readonly RaceGroup[];
  readonly missing?: readonly { readonly name: string; readonly why: string }[];
  readonly note?: string;
}

export interface RaceGroup {
  readonly name: string;
  /** Per pass, with their characters of text. */
  readonly units: number;
  readonly characters: number;
  readonly standings: readonly Standing[];
}

/** Facts without a comparison. */
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
  /** ISO 8601. */
  readonly date: string;
  readonly machine: Machine;
  readonly versions: Readonly<Record<string, string>>;
  readonly sections: readonly Section[];
}
