/** The rules that come with pegwire. */
import { CS_RULES } from './bundled/cs.js';
import { FIN_RULES } from './bundled/fin.js';
import { HR_RULES } from './bundled/hr.js';
import { IT_RULES } from './bundled/it.js';
import { LEGAL_RULES } from './bundled/legal.js';
import { MKT_RULES } from './bundled/mkt.js';
import { SALES_RULES } from './bundled/sales.js';
import type { RuleLibrary } from './library.js';
import { readRules } from './load.js';

const ALL = [HR_RULES, FIN_RULES, SALES_RULES, LEGAL_RULES, IT_RULES, CS_RULES, MKT_RULES];

/** Goes up when a rule changes. */
const VERSION = '1.0.0';

let library: RuleLibrary | undefined;

/**
 * Rules of everyday instructions for the seven domains, each with phrases; where a workflow's step does it, that step makes
 * the packet. Made when it is first asked for; the same library each time.
 */
export function bundledRules(): RuleLibrary {
  // Whether their steps are good is a matter for tests, not for each start.
  library ??= readRules(
    ALL.flat().map((rule) => ({ ...rule, version: VERSION, source: 'pegwire' })),
    {},
    null,
  );
  return library;
}
