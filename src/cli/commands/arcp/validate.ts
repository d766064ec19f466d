import { checkLog, type Envelope } from '../../../arcp/index.js';
import { visible } from '../../../text/visible.js';
import { inputName } from '../../io/input.js';
import { toJson } from '../../io/json.js';
import { labelled } from '../../io/output.js';
import { count } from '../../io/report.js';
import { defineCommand } from '../../options/command.js';
import { flag } from '../../options/option.js';
import { readLog } from './logs.js';

export const command = defineCommand({
  takes: 'file',
  options: {
    'skip-order': flag('Validate each message on its own, and not their order'),
    complete: flag('Require that all jobs and streams have ended and all commands were answered'),
  },
  details:
    'The input is a log with one message per line, in the order in which both sides sent them, or a database of pegwire arcp serve --db. ' +
    'The exit code is 1 if a message or the order is invalid.',
  example: 'pegwire arcp validate --complete log.jsonl',
  run: async (invocation) => {
    const { options, output, json } = invocation;
    const name = inputName(invocation);
    const messages: Envelope[] = [];
    const numbers: number[] = [];
    let errors = 0;
    const report = async (line: number | undefined, code: string, message: string): Promise<void> => {
      errors++;
      const place = line === undefined ? name : `${name}:${line}`;
      await output.result(
        json
          ? toJson({ line, error: { code, message } })
          : `${`${place}: ${labelled('error', code, visible(message), output.paint)}`}`,
      );
    };
    let unreadable: unknown;
    try {
      for await (const { number, result } of readLog(invocation)) {
        if ('error' in result) await report(number, result.error.code, result.error.message);
        else {
          messages.push(result.message);
          numbers.push(number);
        }
      }
    } catch (thrown) {
      // The messages before it are checked first.
      unreadable = thrown;
    }
    // A message that is invalid would be missing from the order.
    if (!options['skip-order'] && errors === 0) {
      const violations = checkLog(messages, { isComplete: options.complete && unreadable === undefined });
      for (const { index, rule, message } of violations)
        await report(index === undefined ? undefined : numbers[index], rule, message);
    }
    if (unreadable !== undefined) throw unreadable;
    if (!json) await output.note(`${count(messages.length, 'valid message')}, ${count(errors, 'error')}`);
    return errors === 0 ? 0 : 1;
  },
});
