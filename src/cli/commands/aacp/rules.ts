import { encodeStep } from '../../../aacp/encoders/index.js';
import {
  bundledRules,
  type FoundRule,
  loadRules,
  type Rule,
  type RuleLibrary,
  type RuleReport,
} from '../../../aacp/fallback/index.js';
import { sourceOf } from '../../../aacp/rules/rule.js';
import { visible } from '../../../text/visible.js';
import { didYouMean, UsageError } from '../../io/errors.js';
import { toJson } from '../../io/json.js';
import type { Paint } from '../../io/output.js';
import { count, noteNothing } from '../../io/report.js';
import { defineCommand, type Invocation } from '../../options/command.js';
import { alternatives, integer, text, value } from '../../options/option.js';
import { RULES_OPTIONS } from '../../options/shared.js';
import { chosenLibrary, rulesOfFile } from './open-rules.js';

const OPTIONS = {
  ...RULES_OPTIONS,
  domain: text('DOM', 'Print only the rules of this domain (find, list)'),
  task: text('TASK', 'Print only the rules of this task (find, list)'),
  limit: value('N', 'Print at most this many rules (find; default: 10)', integer({ from: 1 })),
};

type Run = Invocation<typeof OPTIONS>;

export const command = defineCommand({
  takes: { words: 'check [FILE] | find WORD... | list' },
  options: OPTIONS,
  details:
    '"check" reports the errors and warnings of the rules in FILE, by default of the built-in rules; "find" prints the rules ' +
    'that are nearest to the words; "list" prints all rules. The exit code is 1 if a rule has an error, or if none is found.',
  example: 'pegwire aacp rules find three-way match of an invoice',
  run,
});

type Action = (invocation: Run, words: readonly string[]) => Promise<number>;

const ACTIONS: ReadonlyMap<string, Action> = new Map([
  ['check', checkRules],
  ['find', findRules],
  ['list', listRules],
]);

async function run(invocation: Run): Promise<number> {
  const [name, ...words] = invocation.words;
  const names = [...ACTIONS.keys()];
  if (name === undefined) throw new UsageError(`aacp rules requires an action: ${alternatives(names)}`);
  const action = ACTIONS.get(name);
  if (action === undefined)
    throw new UsageError(`Unknown action "${name}"${didYouMean(name, names) || `; expected ${alternatives(names)}`}`);
  return action(invocation, words);
}

async function checkRules(invocation: Run, [file, extra]: readonly string[]): Promise<number> {
  const { json, output, options } = invocation;
  if (extra !== undefined) throw new UsageError(`aacp rules check reads one file; remove "${extra}"`);
  if (options.rules !== undefined)
    throw new UsageError('aacp rules check takes its file as an argument; remove --rules');
  const sha256 = options['rules-sha256'];
  if (file === undefined && sha256 !== undefined) throw new UsageError('--rules-sha256 requires a file');
  const library = file === undefined ? bundledAgain() : await rulesOfFile(file, sha256);
  const { reports, rules, hash } = library;
  for (const report of reports) await output.result(json ? toJson(report) : reportLine(report, output.paint));
  const errors = reports.filter(({ severity }) => severity === 'error').length;
  const summary = { ...library.summary(), errors, warnings: reports.length - errors, hash };
  if (json) await output.result(toJson({ summary }));
  else {
    const counts = [count(rules.length, 'valid rule'), count(errors, 'error'), count(summary.warnings, 'warning')];
    await output.note(`${counts.join(', ')}; hash ${hash}`);
  }
  return errors > 0 ? 1 : 0;
}

/** Loads the built-in rules again, and runs the workflow steps that they name. */
function bundledAgain(): RuleLibrary {
  return loadRules(bundledRules().rules.map(sourceOf), { encodeStep });
}

function reportLine({ index, id, severity, code, message }: RuleReport, paint: Paint): string {
  const head = paint(severity === 'error' ? 'red' : 'yellow', `${severity}[${code}]`);
  return `${index + 1}: ${visible(id ?? '(no id)')}: ${head}: ${visible(message)}`;
}

async function findRules(invocation: Run, words: readonly string[]): Promise<number> {
  const { json, output, options } = invocation;
  if (words.length === 0) throw new UsageError('aacp rules find requires words to search for');
  const library = await chosenLibrary(invocation);
  const { domain, task } = narrowed(invocation.options);
  const found = library.find(words.join(' '), { domain, task, limit: options.limit });
  for (const one of found) {
    const { rule, score, matched } = one;
    await output.result(json ? toJson({ score, matched, rule: sourceOf(rule) }) : foundLine(one));
  }
  if (found.length === 0) await noteNothing(invocation, 'no-rule', 'No rule matches.');
  return found.length === 0 ? 1 : 0;
}

async function listRules(invocation: Run, [extra]: readonly string[]): Promise<number> {
  const { json, output } = invocation;
  if (extra !== undefined) throw new UsageError(`aacp rules list takes no arguments; remove "${extra}"`);
  const { rules } = await chosenLibrary(invocation);
  const { domain, task } = narrowed(invocation.options);
  const isWanted = (rule: Rule): boolean =>
    (domain === undefined || rule.domain === domain) && (task === undefined || rule.task === task);
  const wanted = rules.filter(isWanted);
  for (const rule of wanted) await output.result(json ? toJson(sourceOf(rule)) : ruleLine(rule));
  if (!json) await output.note(count(wanted.length, 'rule'));
  return 0;
}

function narrowed({ domain, task }: Run['options']): {
  readonly domain: string | undefined;
  readonly task: string | undefined;
} {
  return { domain: domain?.toUpperCase(), task: task?.toUpperCase() };
}

function foundLine({ rule, score }: FoundRule): string {
  return `${score.toFixed(2)}  ${ruleLine(rule)}`;
}

function ruleLine({ id, name, packet }: Rule): string {
  return visible(`${id}  ${name}  ${packet}`);
}
