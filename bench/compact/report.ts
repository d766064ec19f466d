/** The counts of `results/compact-tokens.json`. */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import type { AgentMessage } from '../corpus/agent-messages.js';
import { projectRoot } from '../root.js';

/** The knowledge that both sides share before a message. */
export type Scenario = 'first' | 'second' | 'first by agent' | 'second by agent' | 'other part' | 'own types';

/** `corpus`: messages.json. The others are generated, with or without a type of the corpus. */
export type Group = 'corpus' | 'same types' | 'other types';

export interface Row {
  readonly scenario: Scenario;
  readonly group: Group;
  readonly id: string;
  readonly kind: string;
  /** The number of compact frames. */
  readonly frames: number;
  readonly isAnswer: boolean;
  /** By tokenizer: the forms without envelope, then with it. */
  readonly tokens: readonly (readonly number[])[];
}

/** The number of messages that a registry was learned from, and of its entries. */
export interface RegistrySize {
  readonly messages: number;
  readonly shapes: number;
  readonly strings: number;
  readonly agents: number;
}

export interface CompactTokens {
  readonly tokenizers: readonly string[];
  readonly forms: readonly string[];
  /** The tokens of the frames of both sides with which a session begins. */
  readonly announcements: Readonly<Record<string, number>>;
  readonly registries: Readonly<Record<string, RegistrySize>>;
  readonly rows: readonly Row[];
}

export function typeOf({ intent, operation, schema = '' }: AgentMessage): string {
  return `${intent}:${operation}:${schema}`;
}

export function readCompactTokens(): CompactTokens {
  const file = path.join(projectRoot(), 'bench/results/compact-tokens.json');
  return JSON.parse(readFileSync(file, 'utf8')) as CompactTokens;
}

/** Writes the counts with one row per line. */
export function write({ rows, ...rest }: CompactTokens): string {
  const head = JSON.stringify(rest).slice(0, -1);
  return `${head},"rows":[\n${rows.map((row) => JSON.stringify(row)).join(',\n')}\n]}\n`;
}
