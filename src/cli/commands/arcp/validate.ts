import { checkLog, type Envelope } from '../../../arcp/index.js';
import { visible } from '../../../text/visible.js';
import { inputName } from '../../io/input.js';
import { toJson } from '../../io/json.js';
import { defineCommand } from '../../options/command.js';
import { flag } from '../../options/option.js';
import { readLog } from './logs.js';

export const command = defineCommand({
  takes: 'file',
  options: {
    'skip-order': flag('Validate each message on its own; do not check their order.'),
    complete: flag('all is over: jobs and streams have ended, commands were answered'),
  },
  details:
    'The input is messages, one a line, in the order in which both sides have sent them; or a file that pegwire arcp serve --db keeps.',
  example: 'pegwire arcp validate --complete log.jsonl',
  run: async (invocation) => {
    const { options, output, json } = invocation;
    const name = inputName(invocation);
    const messages: Envelope[] = [];
    const numbers: number[] = [];
    let wrong = 0;
    const report = async (line: number | undefined, code: string, message: string): Promise<void> => {
      wrong++;
      const place = line === undefined ? name : `${name}:${line}`;
      await output.result(
        json
          ? toJson({ line, error: { code, message } })
          : `${output.paint('red', place)}: ${visible(message)} (${code})`,
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
      // The messages before it are checked anyway.
      unreadable = thrown;
    }
    // An unreadable message would be missing in the order of the others.
    if (!options['skip-order'] && wrong === 0) {
      const violations = checkLog(messages, { isComplete: options.complete && unreadable === undefined });
      for (const { index, rule, message } of violations)
        await report(index === undefined ? undefined : numbers[index], rule, message);
    }
    if (unreadable !== undefined) throw unreadable;
    if (!json) await output.note(`${messages.length} messages, ${wrong === 0 ? 'nothing wrong' : `${wrong} wrong`}`);
    return wrong === 0 ? 0 : 1;
  },
});
