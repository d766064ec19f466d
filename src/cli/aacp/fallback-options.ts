/** The options of `pegwire encode aacp` for instructions in English. No encoder is loaded for them. */
import type { Options } from '../usage.js';

export const RULES_OPTIONS: Options = {
  rules: { type: 'string', description: 'FILE  rules of your own, in the reference format, beside those of pegwire' },
  'rules-sha256': { type: 'string', description: 'HEX  only the file with this SHA-256' },
  'no-bundled-rules': { type: 'boolean', description: 'without the rules of pegwire' },
};

export const FALLBACK_OPTIONS: Options = {
  english: {
    type: 'string',
    optional: true,
    description:
      'TEXT  one instruction, or - for those of stdin; without TEXT, or with --domain alone, those of the file or of stdin',
  },
  domain: {
    type: 'string',
    description: 'DOM  of the packets: HR, FIN, SALES, LEGAL, IT, CS, MKT, or one of your own',
  },
  'return-agent': { type: 'string', description: "NAME  who gets the result; by default the domain's: HR-Agent" },
  priority: { type: 'string', description: 'N  1 critical, 2 medium (default), 3 low' },
  registry: {
    type: 'string',
    description:
      "FILE  what was encoded before; memory: for this run only; none; by default registry.db in the user's data folder",
  },
  ...RULES_OPTIONS,
  model: {
    type: 'string',
    description:
      'NAME  who is asked for what is novel: anthropic:NAME, openai:NAME, with the key in ANTHROPIC_API_KEY or ' +
      'OPENAI_API_KEY; or URL#NAME, a server that speaks Chat Completions',
  },
  'key-variable': { type: 'string', description: 'NAME  the environment variable with the key of the model, instead' },
  price: { type: 'string', description: 'IN,OUT  US dollars per million tokens of the model' },
  threshold: { type: 'string', description: 'N  the least score of a pattern, above 0 and up to 1' },
  strict: { type: 'boolean', description: 'refuse packets of a model with values that the instruction does not state' },
  explain: { type: 'boolean', description: 'ask no model: tell what would happen, and which patterns came near' },
};
