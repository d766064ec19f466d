import { flag, text, type Values } from './option.js';

/** No rules are loaded for them. */
export const RULES_OPTIONS = {
  rules: text('FILE', 'rules of your own, in the reference format, beside those of pegwire'),
  'rules-sha256': text('HEX', 'only the file with this SHA-256'),
  'no-bundled-rules': flag('without the rules of pegwire'),
};

export type RulesOptions = Values<typeof RULES_OPTIONS>;
