/** The work of `pegwire arcp validate`. */
import { checkLog, type Envelope } from '../../../arcp/index.js';
import { visible } from '../../../text/visible.js';
import { inputName } from '../../io/input.js';
import { toJson } from '../../io/json.js';
import type { Invocation } from '../../options/command.js';
import { readLog } from './logs.js';

/** @returns the exit code: 1 where something is wrong */
export async function runValidate(invocation: Invocation): Promise<number> {
  const { options, output, json } = invocation;
  const name = inputName(invocation);
  const messages: Envelope[] = [];
  const numbers: number[] = [];
  let wrong = 0;
  const told = async (line: number | undefined, code: string, message: string): Promise<void> => {
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
      if ('error' in result) await told(number, result.error.code, result.error.message);
      else {
        messages.push(result.message);
        numbers.push(number);
      }
    }
  } catch (thrown) {
    // What stands before the place is checked all the same.
    unreadable = thrown;
  }
  // A message that could not be read would be missed in the order of the others.
  if (options['each-alone'] !== true && wrong === 0) {
    const violations = checkLog(messages, { isComplete: options['complete'] === true && unreadable === undefined });
    for (const { at, rule, message } of violations)
      await told(at === undefined ? undefined : numbers[at], rule, message);
  }
  if (unreadable !== undefined) throw unreadable;
  if (!json) await output.note(`${messages.length} messages, ${wrong === 0 ? 'nothing wrong' : `${wrong} wrong`}`);
  return wrong === 0 ? 0 : 1;
}
