import { AuditError, type AuditFault, type AuditVerification, verifyAuditFile } from '../../../aacp/dispatch/index.js';
import { PegwireError } from '../../../text/errors.js';
import { UsageError, unreadable } from '../../io/errors.js';
import { toJson } from '../../io/json.js';
import { count, type Reporting } from '../../io/report.js';
import { defineCommand } from '../../options/command.js';
import { checked, value } from '../../options/option.js';

export const command = defineCommand({
  takes: { words: 'verify <FILE>' },
  options: {
    head: value(
      'HASH',
      'of an earlier time: the record that has to be there still',
      checked('64 hexadecimal digits, as an earlier verification gave it', (given) =>
        /^[0-9a-f]{64}$/.test(given) ? given : undefined,
      ),
    ),
  },
  details:
    'The exit code is 1 when the log is not intact. A last line that is not whole, as after a crash, is told apart: it was ' +
    'never acknowledged. A log that was cut off, or written anew, only --head can tell.',
  example: 'pegwire aacp audit verify audit.jsonl',
  run: async (invocation) => {
    const [action, file, extra] = invocation.words;
    if (action !== 'verify')
      throw new UsageError(`aacp audit takes verify${action === undefined ? '' : `, not "${action}"`}`);
    if (file === undefined) throw new UsageError('aacp audit verify needs the file of a log');
    if (extra !== undefined) throw new UsageError(`aacp audit verify reads one file; "${extra}" is one too many`);
    const result = await verify(file, invocation.options.head);
    await report(invocation, file, result);
    return result.ok ? 0 : 1;
  },
});

const REASONS: Readonly<Record<AuditFault['reason'], string>> = {
  'torn-end': 'the line is not whole, as after a crash or on a full disk: it was never acknowledged',
  'not-a-record': 'it is no record, or not in the spelling in which it was written',
  sequence: 'its number is not the next one: records were taken out, put in, or changed places',
  previous: 'it does not follow the record before it',
  chain: 'it was changed after it was written',
  head: 'the record of --head is not there: the end was cut off, or the log was written anew',
};

async function verify(file: string, head: string | undefined): Promise<AuditVerification> {
  try {
    return await verifyAuditFile(file, { head });
  } catch (thrown) {
    if (!(thrown instanceof AuditError)) throw thrown;
    const { cause } = thrown as { readonly cause?: { readonly errno?: unknown } };
    throw cause?.errno === undefined ? new UsageError(thrown.message, 'unreadable') : unreadable(cause, file);
  }
}

async function report({ json, output }: Reporting, name: string, result: AuditVerification): Promise<void> {
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

function errorOf(name: string, { line, reason }: AuditFault): PegwireError {
  return new PegwireError({ code: reason, message: `${name}:${line}: ${REASONS[reason]}.` });
}
