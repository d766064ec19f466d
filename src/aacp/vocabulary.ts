/** The words of draft-mackay-aacp-01: TASK and DOM values, keys, version. */
import type { Words } from '../text/ascii.js';

/** The version of the protocol that v1.1 packets carry (section 4.2). */
export const VERSION = '1.1';

/** The TASK values, each with the action that it stands for (section 5.1). */
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

/** The DOM values, each with the name of its domain (section 5.2). */
export const DOMAINS: Words = {
  HR: 'Human Resources',
  FIN: 'Finance',
  SALES: 'Sales',
  LEGAL: 'Legal',
  IT: 'IT & Infrastructure',
  CS: 'Customer Services',
  MKT: 'Marketing',
};

/** The priorities, each with its name (section 5.3). */
export const PRIORITIES: Words = {
  1: 'critical priority',
  2: 'medium priority',
  3: 'low priority',
};

/** The values of `risk`, `status` and `tone`, each with its meaning (section 4.3). */
export const RISKS: Words = {
  low: 'low risk',
  medium: 'medium risk',
  high: 'high risk \u2014 review required',
  critical: 'critical risk \u2014 do not proceed without approval',
};

export const STATUSES: Words = {
  ok: 'completed successfully',
  review_required: 'completed \u2014 review required before proceeding',
  error: 'failed',
  blocked: 'blocked \u2014 cannot proceed',
  negotiate: 'recommend negotiation',
  approve: 'approved to proceed',
};

export const TONES: Words = {
  empathetic: 'Use an empathetic, supportive tone',
  formal: 'Use a formal, professional tone',
  terse: 'Use a brief, direct tone',
};

/**
 * The keys, each with the label of its sentence (section 8), or '' for none: those of section 4.2 in canonical order, then those of
 * section 4.3 in the order of the sentences.
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

/** The extended keys of section 4.3. */
export const EXTENDED_KEYS: readonly string[] = /* @__PURE__ */ KEYS.slice(8);

/** The index of each key, so that per-key state in an array needs no second lookup. */
export const KEY_NUMBERS: ReadonlyMap<string, number> = new Map(KEYS.map((key, number) => [key, number]));

/** Converts ASCII letters to lower case, as keys are compared. */
export function lowerAscii(key: string): string {
  return /[A-Z]/.test(key) ? key.replace(/[A-Z]+/g, (letters) => letters.toLowerCase()) : key;
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: it matches control characters
export const CONTROL: RegExp = /[\x00-\x1F\x7F]/;

/** The forms of a TASK or DOM, and of a key (section 4). */
export const WORD = /^[A-Z][A-Z0-9_-]*$/;
export const KEY = /^[a-z][a-z0-9_]*$/;
