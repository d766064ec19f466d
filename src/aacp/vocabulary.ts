/** The words of draft-mackay-aacp-01: TASK and DOM values, keys, version. */
import type { Words } from '../text/words.js';

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

/** The named fields of section 4.2, in canonical order. */
export const CORE_KEYS: readonly string[] = ['return', 'p', 'aacp', 'res', 'period', 'filter', 'fields', 'fmt'];

/** The extended keys that section 4.3 defines. */
export const EXTENDED_KEYS: readonly string[] = (
  'src src_prev rules validate tmpl data_ptr amt ccy sup match terms type party clause issue risk ' +
  'block flags req highlight status to subj att flag_msg tone sentiment actor chain prog ltv loyalty ' +
  'urgency'
).split(' ');

/** Keys are compared without regard to ASCII case, and to ASCII case only. */
export function lowerAscii(key: string): string {
  return key.replace(/[A-Z]+/g, (letters) => letters.toLowerCase());
}

/** The control characters, which no token holds. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
export const CONTROL: RegExp = /[\x00-\x1F\x7F]/;
