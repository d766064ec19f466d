/** Loads the rules that `--rules`, `--rules-sha256` and `--no-bundled-rules` select. */
import { encodeStep } from '../../../aacp/encoders/index.js';
import { bundledRules, loadRulesFile, type Rule, type RuleLibrary, RulesError } from '../../../aacp/fallback/index.js';
import { libraryOf } from '../../../aacp/rules/library.js';
import { visible } from '../../../text/visible.js';
import { UsageError, unreadable } from '../../io/errors.js';
import { toJson } from '../../io/json.js';
import { count, type Reporting } from '../../io/report.js';
import type { RulesOptions } from '../../options/shared.js';

type Choosing = Pick<Reporting, 'json' | 'output'> & { readonly options: RulesOptions };

/** Returns the rules of the file, then the bundled ones. */
export async function chosenRules(invocation: Choosing): Promise<readonly Rule[]> {
  const { options } = invocation;
  const bundled = options['no-bundled-rules'] ? [] : bundledRules().rules;
  const { rules: file } = options;
  if (file === undefined) {
    if (options['rules-sha256'] !== undefined) throw new UsageError('--rules-sha256 goes with --rules');
    return bundled;
  }
  const library = await rulesOfFile(file, options['rules-sha256']);
  await noteReports(invocation, file, library);
  return [...library.rules, ...bundled];
}

export async function chosenLibrary(invocation: Choosing): Promise<RuleLibrary> {
  const { options } = invocation;
  if (options.rules === undefined && !options['no-bundled-rules']) return bundledRules();
  return libraryOf(await chosenRules(invocation), []);
}

export async function rulesOfFile(file: string, sha256: string | undefined): Promise<RuleLibrary> {
  if (sha256 !== undefined && !/^[0-9a-f]{64}$/i.test(sha256))
    throw new UsageError(`The SHA-256 of a file is 64 hexadecimal digits, not "${sha256}"`);
  try {
    return await loadRulesFile(file, { sha256, encodeStep });
  } catch (thrown) {
    if (!(thrown instanceof RulesError)) throw thrown;
    const { cause } = thrown as { readonly cause?: { readonly errno?: unknown } };
    if (cause?.errno !== undefined) throw unreadable(cause, file);
    const help = thrown.help === undefined ? '' : `; ${thrown.help}`;
    throw new UsageError(`${thrown.message.replace(/\.$/, '')}${help}`, 'unreadable');
  }
}

async function noteReports({ json, output }: Choosing, file: string, { reports }: RuleLibrary): Promise<void> {
  const errors = reports.filter(({ severity }) => severity === 'error');
  if (errors.length === 0) return;
  const message =
    `${file}: ${count(new Set(errors.map(({ index }) => index)).size, 'rule')} with errors left out; ` +
    'pegwire aacp rules check tells which';
  await output.note(json ? toJson({ notice: { kind: 'rules-left-out', file, message } }) : visible(message));
}
