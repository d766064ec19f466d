import type { RuleSource } from '../rule-schema.js';

/** A rule of ours; all have the same version and source. */
export type BundledRule = Omit<RuleSource, 'version' | 'source'>;
