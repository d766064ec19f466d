import type { Diagnostic } from '../../text/diagnostic.js';

/**
 * Findings about what is in a valid packet. `sensitive-value`: a value looks like personal data, a financial record or a
 * credential (section 15). `redundant-field`: the receiver knows what the field says (sections 4.2 and 9).
 */
export type LintCode = 'sensitive-value' | 'redundant-field';

export type LintDiagnostic = Diagnostic<LintCode>;
