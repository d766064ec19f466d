/** Options that say which messages of a protocol are meant. `narrowing.ts` reads them, and is loaded only then. */
import type { OptionSpec } from './options/command.js';

export const NARROWING_OPTIONS: Readonly<Record<string, OptionSpec>> = {
  dialect: { type: 'string', description: 'NAME  strict (default); accp: lenient, aacp: tolerant' },
  fields: {
    type: 'string',
    description: "LIST  only these keys, in this order: 'q:string,limit:integer?,pri=high|low' (aacp: no types)",
  },
  agents: { type: 'string', description: 'LIST  accp: only these senders, parted by commas' },
  intents: { type: 'string', description: 'LIST  accp: only these intents' },
  operations: { type: 'string', description: 'LIST  accp: only these operations' },
  metadata: { type: 'string', description: 'USE  accp: none, optional (default), required, or a list as in --fields' },
  'max-depth': { type: 'string', description: 'N  accp: deepest nesting of arrays and maps, 0 to 5 (default 5)' },
  tasks: { type: 'string', description: 'LIST  aacp: only these TASK values' },
  domains: { type: 'string', description: 'LIST  aacp: only these DOM values' },
  'return-agents': { type: 'string', description: 'LIST  aacp: only these agents get the result' },
};
