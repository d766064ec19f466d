/** ACCP as a language for tools: fuzzing, exports, instructions to models. It compiles the grammar shipped with the package. */

import { accp as grammarText } from '../../../generated/grammars.js';
import { frameTokens } from '../../../grammar/accp.tokens.js';
import { jsonTree, type Language } from '../../fuzz/differential/language.js';
import type { DisagreementKind } from '../../fuzz/differential/oracle.js';
import type { Answer } from '../../fuzz/differential/target.js';
import { compileGrammar } from '../../fuzz/grammar/compile.js';
import { type EditorLanguage, TOKEN_SCOPES } from '../../grammar-export/token-table.js';
import { DEFAULT_LIMITS } from '../../text/limits.js';
import { type Dialect, tryParseFrame } from '../parse.js';
import { printFrame } from '../print.js';
import { ENVELOPE_KEYS } from '../vocabulary.js';
import { type AccpLanguageOptions, frameOverlay, resolveNarrowing } from './narrowing.js';

export type { AccpLanguageOptions, FieldOptions, ValueType } from './narrowing.js';

const DRAFT = 'draft-benzing-accp-00';

/** Numbers at the limits of section 3.1.1. */
const NUMBERS = [
  ...['-0', '007', '9007199254740991', '9007199254740992', '-9007199254740993', '123456789012345678901234567890'],
  ...['0.1234565', '0.1234575', '-2.0000005', '0.9999995', '-0.0000001', '-0.0', '1.50', '99999999.99999951'],
];

/**
 * Returns the grammar of a dialect, or of the frames that the options allow. The grammar accepts exactly those frames, of any length.
 * A narrowed grammar builds no trees.
 *
 * Source: draft-benzing-accp-00, section 3.1.
 *
 * @throws TypeError if an option is invalid or a frame cannot contain a value
 * @example
 * const { grammar } = accpLanguage({ intents: ['req'], fields: { q: { type: 'string' }, n: { type: 'integer', optional: true } } });
 * grammar.accepts('@a>req:find{q:cats|n:3}') // true
 * grammar.accepts('@a>req:find{n:3}') // false
 */
export function accpLanguage(options: AccpLanguageOptions = {}): Language {
  const narrowing = resolveNarrowing(options);
  const { dialect, maxDepth } = narrowing;
  const overlay = frameOverlay(narrowing);
  const grammar = compileGrammar(grammarText, {
    name: 'accp',
    startRule: 'frame',
    parseOptions: { dialect, maxDepth },
    gates: { lenient: dialect === 'lenient' },
    overrides: overlay,
  });
  return {
    name: 'accp',
    grammar,
    exportable: grammar,
    narrowed: overlay !== undefined || maxDepth < DEFAULT_LIMITS.maxDepth,
    dialect,
    depth: { rules: ['array', 'map'], max: maxDepth, checks: ['entered', 'left'] },
    words: { key: ENVELOPE_KEYS, number: NUMBERS },
    read: (text) => readFrame(text, dialect),
    basisOf,
  };
}

function basisOf(reference: Answer, kind: DisagreementKind): string {
  if (reference.ok)
    return kind === 'different-canonical' ? `${DRAFT}, sections 3.1.1, 3.3 and 3.5` : `${DRAFT}, section 3.1`;
  switch (reference.reason) {
    case 'duplicate-key':
      return `the reading of ${DRAFT}, section 3.1, in conformance/README.md: keys are unique`;
    case 'limit':
      return `${DRAFT}, section 9, with the limits in conformance/README.md`;
    default:
      return `${DRAFT}, section 3.1`;
  }
}

function readFrame(text: string, dialect: Dialect): Answer {
  const result = tryParseFrame(text, { dialect });
  if (result.ok) return { ok: true, ast: jsonTree(result.value), canonical: printFrame(result.value) };
  const { code, reason, span, message } = result.error;
  return { ok: false, code, reason, ...(span === null ? {} : { offset: span.start }), message };
}

/** ACCP for `textMateGrammar()` and `codeMirrorMode()`, with the tokens that `findFrames` and the highlighting in terminals use. */
export const accpEditor: EditorLanguage = {
  name: 'ACCP',
  id: 'accp',
  fileTypes: ['accp'],
  table: { states: { frame: frameTokens }, start: 'frame' },
  scopes: TOKEN_SCOPES,
};
