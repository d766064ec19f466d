/** The vocabularies that can be counted in. */

/** `o200k_base` is the one of current models, `cl100k_base` the one before. */
export const ENCODINGS = ['o200k_base', 'cl100k_base', 'o200k_harmony', 'p50k_base', 'r50k_base'] as const;

export type Encoding = (typeof ENCODINGS)[number];
