import type { GrammarFormat } from '../grammar-export/export-grammar.js';

/** The formats of any grammar come first. */
export const EXPORT_FORMATS = [
  ...(['abnf', 'gbnf', 'lark', 'regex'] satisfies GrammarFormat[] as GrammarFormat[]),
  'railroad',
  'textmate',
  'codemirror',
  'json-schema',
] as const;

export type ExportFormat = (typeof EXPORT_FORMATS)[number];
