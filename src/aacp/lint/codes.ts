import type { Diagnostic } from '../../text/diagnostic.js';

/**
 * Findings about what is in a valid packet. `sensitive-value`: a value looks like personal data, a financial record or a
 * credential (section 15). `invisible-character`: a value holds what no reader sees, or what turns the text around it
 * (section 15). `period-form`: a period that is not "YYYY-MM or similar" (section 4.2). `currency-form`: a currency that is
 * not three capital letters (ISO 4217). `redundant-field`: the receiver knows what the field says (sections 4.2 and 9).
 * `more-findings`: the last of a full list; it counts the rest.
 */
export type LintCode =
  | 'sensitive-value'
  | 'invisible-character'
  | 'period-form'
  | 'currency-form'
  | 'redundant-field'
  | 'more-findings';

export type LintDiagnostic = Diagnostic<LintCode>;
