/** Results as data: what is written to a file, and what tables are made from. */
import type { Standing } from './race.js';

/** Candidates held against an anchor, once or for several groups of inputs. */
export interface RaceSection {
  readonly kind: 'race';
  readonly id: string;
  readonly title: string;
  /** What one pass handles, for times: "frame". */
  readonly unit: string;
  readonly anchor: string;
  readonly groups: readonly RaceGroup[];
  /** What could not be measured, and why. */
  readonly missing?: readonly { readonly name: string; readonly why: string }[];
  readonly note?: string;
}

export interface RaceGroup {
  readonly name: string;
  /** How many units one pass handles, and how many characters of text they have. */
  readonly units: number;
  readonly characters: number;
  readonly standings: readonly Standing[];
}

/** Facts that are no ratios to an anchor. */
export interface FactSection {
  readonly kind: 'facts';
  readonly id: string;
  readonly title: string;
  readonly columns: readonly string[];
  readonly rows: readonly (readonly (string | number)[])[];
  readonly note?: string;
}

export type Section = RaceSection | FactSection;

/** Where and with what the figures were taken. Without them they mean nothing. */
export interface Machine {
  readonly cpu: string;
  readonly cores: number;
  readonly memoryGigabytes: number;
  readonly platform: string;
  readonly node: string;
}

export interface Report {
  /** ISO 8601. */
  readonly date: string;
  readonly machine: Machine;
  /** Of pegwire and of all that it is compared with. */
  readonly versions: Readonly<Record<string, string>>;
  readonly sections: readonly Section[];
}
