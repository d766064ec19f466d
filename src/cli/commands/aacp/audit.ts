/** The work of `pegwire aacp audit`. */
import { AuditError, type AuditFault, type AuditVerification, verifyAuditFile } from '../../../aacp/dispatch/index.js';
import { PegwireError } from '../../../text/errors.js';
import { unreadable } from '../../io/errors.js';
import { toJson } from '../../io/json.js';
import { type Invocation, UsageError } from '../../options/command.js';
import { count } from '../../session/notes.js';

const REASONS: Readonly<Record<AuditFault['reason'], string>> = {
  'torn-end': 'the line is not whole, as after a crash or on a full disk: it was never acknowledged',
  'not-a-record': 'it is no record, or not in the spelling in which it was written',
  sequence: 'its number is not the next one: records were taken out, put in, or changed places',
  previous: 'it does not follow the record before it',
  chain: 'it was changed after it was written',
  head: 'the record of --head is not there: the end was cut off, or the log was written anew',
};

/** @returns the exit code: 1 when the log is not intact */
export async function runAudit(invocation: Invocation): Promise<number> {
  const { words, options } = invocation;
  const [action, file, extra] = words;
  if (action !== 'verify')
    throw new UsageError(`aacp audit takes verify${action === undefined ? '' : `, not "${action}"`}`);
  if (file === undefined) throw new UsageError('aacp audit verify needs the file of a log');
  if (extra !== undefined) throw new UsageError(`aacp audit verify reads one file; "${extra}" is one too many`);
  const head = options['head'];
  if (head !== undefined && !/^[0-9a-f]{64}$/.test(String(head)))
    throw new UsageError(`--head is 64 hexadecimal digits, as an earlier verification gave it, not "${String(head)}"`);
  const result = await verify(file, typeof head === 'string' ? head : undefined);
  await tell(invocation, file, result);
  return result.ok ? 0 : 1;
}

async function verify(file: string, head: string | undefined): Promise<AuditVerification> {
  try {
    return await verifyAuditFile(file, { head });
  } catch (thrown) {
    if (!(thrown instanceof AuditError)) throw thrown;
    const { cause } = thrown as { readonly cause?: { readonly errno?: unknown } };
    throw cause?.errno === undefined ? new UsageError(thrown.message, 'unreadable') : unreadable(cause, file);
  }
}

async function tell({ json, output }: Invocation, name: string, result: AuditVerification): Promise<void> {
  const { ok, records, firstFault, head } = result;
  if (json)
    return output.result(
      toJson({ ok, ...(ok ? {} : { error: errorOf(name, firstFault!) }), records, firstFault, head }),
    );
  if (ok) {
    await output.result(`${output.paint('green', 'intact')}: ${count(records, 'record')}`);
    await output.result(`head: ${head}`);
    return;
  }
  const { line, reason } = firstFault!;
  const what = reason === 'torn-end' ? output.paint('yellow', 'torn end') : output.paint('red', 'not intact');
  await output.result(`${what}: ${name}:${line}: ${reason}: ${REASONS[reason]}`);
  await output.result(`before it: ${count(records, 'record')}, as they were written; head: ${head}`);
}

/** As of any other command with `--json`. */
function errorOf(name: string, { line, reason }: AuditFault): PegwireError {
  return new PegwireError({ code: reason, message: `${name}:${line}: ${REASONS[reason]}.` });
}
