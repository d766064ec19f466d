/** The work of `pegwire arcp schema`. */
import { MESSAGE_TYPES, messageJsonSchema } from '../../../arcp/index.js';
import { didYouMean, type Invocation, UsageError } from '../../options/command.js';

export async function runSchema({ words, output, json }: Invocation): Promise<number> {
  const [type, extra] = words;
  if (extra !== undefined) throw new UsageError(`arcp schema takes one type, not "${extra}" as well`);
  const known = MESSAGE_TYPES.find((one) => one === type);
  if (type !== undefined && known === undefined)
    throw new UsageError(`There is no type "${type}"${didYouMean(type, MESSAGE_TYPES)}`);
  const schema = known === undefined ? messageJsonSchema() : messageJsonSchema(known);
  await output.result(json ? JSON.stringify(schema) : JSON.stringify(schema, null, 2));
  return 0;
}
