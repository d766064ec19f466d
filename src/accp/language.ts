/**
 * ACCP as a language for tools: fuzzing, exports, instructions to models. For Node only: it reads the grammar that comes with the
 * package, and compiles it.
 */
import type { Answer } from '../engine/differential/target.js';
import { compileGrammar } from '../engine/grammar/compile.js';
import { jsonTree, type Language } from '../engine/grammar/language.js';
import { packagedGrammar } from '../engine/grammar/packaged.js';
import { DEFAULT_LIMITS } from '../text/limits.js';
import { ENVELOPE_KEYS } from './keys.js';
import { type AccpLanguageOptions, resolveNarrowing } from './narrowing.js';
import { frameOverlay } from './overlay.js';
import { type Dialect, tryParseFrame } from './parse.js';
import { printFrame } from './print.js';

export type { AccpLanguageOptions, FieldOptions, ValueType } from './narrowing.js';

/**
 * The frames of a dialect, or only those that the options allow. A narrowed grammar builds no trees. It accepts what the dialect
 * accepts and the options allow, neither more nor less, but for one thing: it leaves the length of a text unlimited.
 *
 * Source: draft-benzing-accp-00, section 3.1.
 *
 * @throws TypeError on an option that is none, and on a value that cannot stand in a frame
 * @example
 * const { grammar } = accpLanguage({ intents: ['req'], fields: { q: { type: 'string' }, n: { type: 'integer', optional: true } } });
 * grammar.accepts('@a>req:find{q:cats|n:3}') // true
 * grammar.accepts('@a>req:find{n:3}') // false
 */
export function accpLanguage(options: AccpLanguageOptions = {}): Language {
  const narrowing = resolveNarrowing(options);
  const { dialect, maxDepth } = narrowing;
  const overlay = frameOverlay(narrowing);
  const grammar = compileGrammar(packagedGrammar('accp'), {
    name: 'accp',
    startRule: 'frame',
    parseOptions: { dialect, maxDepth },
    gates: { lenient: dialect === 'lenient' },
    overlay,
  });
  return {
    name: 'accp',
    grammar,
    exportable: grammar,
    narrowed: overlay !== undefined || maxDepth < DEFAULT_LIMITS.maxDepth,
    dialect,
    depth: { rules: ['array', 'map'], max: maxDepth },
    words: { key: ENVELOPE_KEYS },
    read: (text) => readFrame(text, dialect),
  };
}

function readFrame(text: string, dialect: Dialect): Answer {
  const result = tryParseFrame(text, { dialect });
  if (result.ok) return { ok: true, ast: jsonTree(result.value), canonical: printFrame(result.value) };
  const { code, reason, span, message } = result.error;
  return { ok: false, code, reason, ...(span === null ? {} : { offset: span.start }), message };
}
