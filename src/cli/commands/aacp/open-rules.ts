/** The rules that `--rules`, `--rules-sha256` and `--no-bundled-rules` come to. */
import { encodeStep } from '../../../aacp/encoders/index.js';
import { bundledRules, loadRulesFile, type Rule, type RuleLibrary, RulesError } from '../../../aacp/fallback/index.js';
import { libraryOf } from '../../../aacp/rules/library.js';
import { visible } from '../../../text/visible.js';
import { unreadable } from '../../io/errors.js';
import { toJson } from '../../io/json.js';
import { type Invocation, UsageError } from '../../options/command.js';
import { count } from '../../session/notes.js';

/**
 * The rules of the file, then those of pegwire.
 *
 * @throws UsageError on a file that cannot be used
 */
export async function chosenRules(invocation: Invocation): Promise<readonly Rule[]> {
  const { options } = invocation;
  const bundled = options['no-bundled-rules'] === true ? [] : bundledRules().rules;
  const file = options['rules'];
  if (typeof file !== 'string') {
    if (options['rules-sha256'] !== undefined) throw new UsageError('--rules-sha256 goes with --rules');
    return bundled;
  }
  const library = await rulesOfFile(file, options['rules-sha256']);
  await tellReports(invocation, file, library);
  return [...library.rules, ...bundled];
}

/** The same as a library, to search in. */
export async function chosenLibrary(invocation: Invocation): Promise<RuleLibrary> {
  const { options } = invocation;
  if (options['rules'] === undefined && options['no-bundled-rules'] !== true) return bundledRules();
  return libraryOf(await chosenRules(invocation), []);
}

/** @throws UsageError on a file that cannot be read, is another one than was pinned, or holds no rules */
export async function rulesOfFile(file: string, sha256: string | boolean | undefined): Promise<RuleLibrary> {
  if (sha256 !== undefined && !/^[0-9a-f]{64}$/i.test(String(sha256)))
    throw new UsageError(`The SHA-256 of a file is 64 hexadecimal digits, not "${String(sha256)}"`);
  try {
    return await loadRulesFile(file, { sha256: sha256 === undefined ? undefined : String(sha256), encodeStep });
  } catch (thrown) {
    if (!(thrown instanceof RulesError)) throw thrown;
    const { cause } = thrown as { readonly cause?: { readonly errno?: unknown } };
    if (cause?.errno !== undefined) throw unreadable(cause, file);
    const help = thrown.help === undefined ? '' : `; ${thrown.help}`;
    throw new UsageError(`${thrown.message.replace(/\.$/, '')}${help}`, 'unreadable');
  }
}

/** Rules that were left out are no reason not to use the others. */
async function tellReports({ json, output }: Invocation, file: string, { reports }: RuleLibrary): Promise<void> {
  const errors = reports.filter(({ severity }) => severity === 'error');
  if (errors.length === 0) return;
  const message =
    `${file}: ${count(new Set(errors.map(({ index }) => index)).size, 'rule')} with errors left out; ` +
    'pegwire aacp rules check tells which';
  await output.note(json ? toJson({ notice: { kind: 'rules-left-out', file, message } }) : visible(message));
}
