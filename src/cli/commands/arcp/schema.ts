import { MESSAGE_TYPES, messageJsonSchema } from '../../../arcp/index.js';
import { didYouMean, UsageError } from '../../io/errors.js';
import { defineCommand } from '../../options/command.js';

export const command = defineCommand({
  takes: { words: '[TYPE]' },
  options: {},
  example: 'pegwire arcp schema tool.invoke',
  run: async ({ words, output, json }) => {
    const [type, extra] = words;
    if (extra !== undefined) throw new UsageError(`arcp schema takes one type; remove "${extra}"`);
    const known = MESSAGE_TYPES.find((one) => one === type);
    if (type !== undefined && known === undefined)
      throw new UsageError(`Unknown message type "${type}"${didYouMean(type, MESSAGE_TYPES)}`);
    const schema = known === undefined ? messageJsonSchema() : messageJsonSchema(known);
    await output.result(json ? JSON.stringify(schema) : JSON.stringify(schema, null, 2));
    return 0;
  },
});
