/** Loads the rules of `--rules`, `--rules-sha256` and `--no-bundled-rules`. */
import { encodeStep } from '../../../aacp/encoders/index.js';
import { bundledRules, loadRulesFile, type Rule, type RuleLibrary, RulesError } from '../../../aacp/fallback/index.js';
import { libraryOf } from '../../../aacp/rules/library.js';
import { visible } from '../../../text/visible.js';
import { libraryFault, UsageError, unreadable } from '../../io/errors.js';
import { toJson } from '../../io/json.js';
import { labelled } from '../../io/output.js';
import { count, type Reporting } from '../../io/report.js';
import type { RulesOptions } from '../../options/shared.js';

type RulesInvocation = Pick<Reporting, 'json' | 'output'> & { readonly options: RulesOptions };

/** Returns the rules of the file, followed by the built-in rules. */
export async function chosenRules(invocation: RulesInvocation): Promise<readonly Rule[]> {
  const { options } = invocation;
  const bundled = options['no-bundled-rules'] ? [] : bundledRules().rules;
  const { rules: file } = options;
  if (file === undefined) {
    if (options['rules-sha256'] !== undefined) throw new UsageError('--rules-sha256 requires --rules');
    return bundled;
  }
  const library = await rulesOfFile(file, options['rules-sha256']);
  await noteReports(invocation, file, library);
  return [...library.rules, ...bundled];
}

/** Returns the selected rules as a library that can be searched. */
export async function chosenLibrary(invocation: RulesInvocation): Promise<RuleLibrary> {
  const { options } = invocation;
  if (options.rules === undefined && !options['no-bundled-rules']) return bundledRules();
  return libraryOf(await chosenRules(invocation), []);
}

/** Loads the rules of a file. @throws UsageError if the file is unreadable or does not have the hash */
export async function rulesOfFile(file: string, sha256: string | undefined): Promise<RuleLibrary> {
  if (sha256 !== undefined && !/^[0-9a-f]{64}$/i.test(sha256))
    throw new UsageError(`--rules-sha256 must be 64 hexadecimal digits; got "${sha256}"`);
  try {
    return await loadRulesFile(file, { sha256, encodeStep });
  } catch (thrown) {
    if (!(thrown instanceof RulesError)) throw thrown;
    const { cause } = thrown as { readonly cause?: { readonly errno?: unknown } };
    if (cause?.errno !== undefined) throw unreadable(cause, file);
    throw libraryFault(thrown);
  }
}

async function noteReports({ json, output }: RulesInvocation, file: string, { reports }: RuleLibrary): Promise<void> {
  const errors = reports.filter(({ severity }) => severity === 'error');
  if (errors.length === 0) return;
  const message =
    `${file}: ${count(new Set(errors.map(({ index }) => index)).size, 'rule')} with errors skipped; ` +
    'run "pegwire aacp rules check" for details';
  await output.note(
    json
      ? toJson({ notice: { kind: 'rules-skipped', file, message } })
      : labelled('warning', 'rules-skipped', visible(message), output.paintNote),
  );
}
