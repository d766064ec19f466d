import { AuditError, type AuditFault, type AuditVerification, verifyAuditFile } from '../../../aacp/dispatch/index.js';
import { PegwireError } from '../../../text/errors.js';
import { libraryFault, UsageError, unreadable } from '../../io/errors.js';
import { toJson } from '../../io/json.js';
import { count, type Reporting } from '../../io/report.js';
import { defineCommand } from '../../options/command.js';
import { checked, value } from '../../options/option.js';

export const command = defineCommand({
  takes: { words: 'verify FILE' },
  options: {
    head: value(
      'HASH',
      'Require the log to contain this record, the head of an earlier verification',
      checked('64 hexadecimal digits', (given) => (/^[0-9a-f]{64}$/.test(given) ? given : undefined)),
    ),
  },
  details:
    'Prints the hash of the last record as the head. The exit code is 1 if the log is not intact. An incomplete last line, as after a ' +
    'crash, is reported as torn-end: it was never acknowledged. Only --head detects that the end of a log was removed or that the log was ' +
    'rewritten.',
  example: 'pegwire aacp audit verify audit.jsonl',
  run: async (invocation) => {
    const [action, file, extra] = invocation.words;
    if (action !== 'verify')
      throw new UsageError(`aacp audit requires the action verify${action === undefined ? '' : `; got "${action}"`}`);
    if (file === undefined) throw new UsageError('aacp audit verify requires the file of a log');
    if (extra !== undefined) throw new UsageError(`aacp audit verify reads one file; remove "${extra}"`);
    const result = await verify(file, invocation.options.head);
    await report(invocation, file, result);
    return result.ok ? 0 : 1;
  },
});

const REASONS: Readonly<Record<AuditFault['reason'], string>> = {
  'torn-end': 'the line is incomplete, as after a crash or on a full disk; it was never acknowledged',
  'not-a-record': 'the line is not a record in the form in which pegwire writes it',
  sequence: 'the number is not the next one; records were removed, inserted or reordered',
  previous: 'the record does not follow the previous one',
  chain: 'the record was changed after it was written',
  head: 'the record of --head is missing; the end of the log was removed, or the log was rewritten',
};

async function verify(file: string, head: string | undefined): Promise<AuditVerification> {
  try {
    return await verifyAuditFile(file, { head });
  } catch (thrown) {
    if (!(thrown instanceof AuditError)) throw thrown;
    const { cause } = thrown as { readonly cause?: { readonly errno?: unknown } };
    throw cause?.errno === undefined ? libraryFault(thrown) : unreadable(cause, file);
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
  await output.result(`before it: ${count(records, 'intact record')}; head: ${head}`);
}

function errorOf(name: string, { line, reason }: AuditFault): PegwireError {
  return new PegwireError({ code: reason, message: `${name}:${line}: ${REASONS[reason]}.` });
}
