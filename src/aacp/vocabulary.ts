/** The words of draft-mackay-aacp-01: TASK and DOM values, keys, version. */
import type { Words } from '../text/ascii.js';

/** The version that v1.1 packets carry (section 4.2). */
export const VERSION = '1.1';

/** TASK values and what they ask for (section 5.1). */
export const TASKS: Words = {
  FETCH: 'Retrieve',
  PROC: 'Process',
  FLAG: 'Flag for review',
  RESOLVE: 'Resolve',
  LOG: 'Log to audit trail',
  SEND: 'Send',
  BUILD: 'Build',
  MERGE: 'Merge',
  CALC: 'Calculate',
  REPORT: 'Generate report',
  ACK: 'Acknowledge',
  SYNC: 'Synchronise',
};

/** DOM values and their names (section 5.2). */
export const DOMAINS: Words = {
  HR: 'Human Resources',
  FIN: 'Finance',
  SALES: 'Sales',
  LEGAL: 'Legal',
  IT: 'IT & Infrastructure',
  CS: 'Customer Services',
  MKT: 'Marketing',
};

/** Priorities and their names (section 5.3). */
export const PRIORITIES: Words = {
  1: 'critical priority',
  2: 'medium priority',
  3: 'low priority',
};

/**
 * Keys with the labels of their sentences (section 8), or '': section 4.2 in canonical order, then 4.3 in the order of
 * sentences.
 */
export const FIELD_LABELS: Words = {
  return: 'Return to',
  p: 'Priority',
  aacp: '',
  res: 'Resource',
  period: 'For period',
  filter: 'Filter',
  fields: 'Return fields',
  fmt: 'Format',
  src: 'Source',
  src_prev: 'Prior period',
  rules: 'Apply rules',
  validate: 'Validate against',
  tmpl: 'Template',
  data_ptr: 'Data reference',
  amt: 'Amount',
  ccy: '',
  sup: 'Supplier',
  match: 'Match against',
  terms: 'Terms',
  party: 'Counterparty',
  type: 'Document type',
  clause: 'Clause',
  issue: 'Issue',
  risk: 'Risk',
  block: 'Blocked pending',
  flags: 'Flags',
  req: 'Required actions',
  highlight: '',
  to: 'Send to',
  subj: 'Subject',
  att: '',
  flag_msg: '',
  sentiment: 'Sentiment',
  tone: 'Tone',
  prog: 'Progress',
  status: 'Status',
  actor: 'Initiated by',
  chain: 'Agent chain',
  ltv: '',
  loyalty: '',
  urgency: '',
};

const KEYS = Object.keys(FIELD_LABELS);

/** The named fields of section 4.2, in canonical order. */
export const CORE_KEYS: readonly string[] = KEYS.slice(0, 8);

/** The extended keys that section 4.3 defines. */
export const EXTENDED_KEYS: readonly string[] = /* @__PURE__ */ KEYS.slice(8);

/** Numbers of the keys, so that state kept per key needs no second look-up. */
export const KEY_NUMBERS: ReadonlyMap<string, number> = new Map(KEYS.map((key, number) => [key, number]));

/** Lower-cases ASCII letters only, as keys are compared. */
export function lowerAscii(key: string): string {
  return /[A-Z]/.test(key) ? key.replace(/[A-Z]+/g, (letters) => letters.toLowerCase()) : key;
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
export const CONTROL: RegExp = /[\x00-\x1F\x7F]/;

/** Forms of TASK and DOM, and of keys, in writing (section 4). */
export const WORD = /^[A-Z][A-Z0-9_-]*$/;
export const KEY = /^[a-z][a-z0-9_]*$/;
