import { CS_RULES } from './bundled/cs.js';
import { FIN_RULES } from './bundled/fin.js';
import { HR_RULES } from './bundled/hr.js';
import { IT_RULES } from './bundled/it.js';
import { LEGAL_RULES } from './bundled/legal.js';
import { MKT_RULES } from './bundled/mkt.js';
import { SALES_RULES } from './bundled/sales.js';
import type { RuleLibrary } from './library.js';
import { readRules } from './load.js';
import type { RuleSource, RuleWorkflow } from './rule.js';

const ALL = [HR_RULES, FIN_RULES, SALES_RULES, LEGAL_RULES, IT_RULES, CS_RULES, MKT_RULES];

/** Changes whenever a rule changes. */
const VERSION = '1.0.0';

let library: RuleLibrary | undefined;

/**
 * Returns rules for everyday instructions of the seven domains, each with phrases. If a workflow has a step for the instruction, the step
 * makes the packet. The rules are parsed on the first call; every call returns the same library.
 */
export function bundledRules(): RuleLibrary {
  if (library !== undefined) return library;
  const texts = ALL.join('').match(/^\S.*(?:\n .*)*/gm) ?? [];
  // Tests check the steps, so that a start does not have to.
  library = readRules(texts.map(readRule), {}, null);
  return library;
}

/**
 * Reads a line `id: name` and the indented lines below it, each a keyword and its text: `about`, `packet`, `tags`, two or more `phrase`
 * lines, and for some rules a `step` with its arguments.
 */
function readRule(text: string): RuleSource {
  const [head = '', ...lines] = text.split(/\n */);
  const [id = '', name = ''] = head.split(': ');
  const known: Record<Keyword, string[]> = { about: [], packet: [], tags: [], phrase: [], step: [] };
  for (const line of lines) {
    const [keyword = ''] = line.split(' ', 1);
    if (!Object.hasOwn(known, keyword)) throw new TypeError(`the rule ${id} has an unknown keyword: ${keyword}`);
    known[keyword as Keyword].push(line.slice(keyword.length + 1));
  }
  const {
    about: [description = ''],
    packet: [packet = ''],
    tags: [tags = ''],
    phrase: phrases,
    step: [step],
  } = known;
  const [task = '', dom = ''] = packet.split('|');
  const workflow = step === undefined ? null : workflowOf(step);
  const origin = { version: VERSION, source: 'pegwire' };
  return { id, name, description, task, dom, packet, tags: tags.split(', '), phrases, workflow, ...origin };
}

type Keyword = 'about' | 'packet' | 'tags' | 'phrase' | 'step';

/** Reads `Encoder.method input=value input=value`. */
function workflowOf(step: string): RuleWorkflow {
  const [path = '', ...inputs] = step.split(' ');
  const [encoder = '', method = ''] = path.split('.');
  return { encoder, method, args: Object.fromEntries(inputs.map((input) => input.split('=', 2) as [string, string])) };
}
