/** AACP as a language for tools: fuzzing, exports, prompts. Compiles the packaged grammar. */

import { aacp as grammarText } from '../../../generated/grammars.js';
import { packetTokens } from '../../../grammar/aacp.tokens.js';
import { jsonTree, type Language } from '../../fuzz/differential/language.js';
import type { DisagreementKind } from '../../fuzz/differential/oracle.js';
import type { Answer } from '../../fuzz/differential/target.js';
import { compileGrammar } from '../../fuzz/grammar/compile.js';
import type { Grammar } from '../../fuzz/grammar/grammar.js';
import { type EditorLanguage, TOKEN_SCOPES } from '../../grammar-export/token-table.js';
import { PrintError } from '../../text/errors.js';
import type { Packet } from '../ast.js';
import { RULES, type ValidationCode } from '../codes.js';
import { type Dialect, tryParsePacket } from '../parse.js';
import { canonicalizePacket, printPacket } from '../print.js';
import { CORE_KEYS, DOMAINS, TASKS } from '../vocabulary.js';
import { type AacpLanguageOptions, packetOverrides, resolveNarrowing } from './narrowing.js';

export type { AacpLanguageOptions, FieldOptions } from './narrowing.js';

const DRAFT = 'draft-mackay-aacp-01';

/** Fields that random texts rarely contain: common ones, and amounts, which the canonical form rounds. */
const FIELDS = [
  ...['return:HR-Agent', 'p:1', 'aacp:1.1', 'res:emp_salary', 'period:2024-08', 'fields:id,name', 'fmt:json'],
  ...['amt:4200', 'amt:4200.50', 'amt:-0.0', 'amt:0.1234565', 'amt:9007199254740993'],
];

/**
 * Returns the language of a dialect, or of the packets that the options allow. `exportable`, and any narrowed grammar, checks blanks at the
 * end of a value by rules instead of code; a narrowed grammar builds no trees. Source: draft-mackay-aacp-01, section 4.
 *
 * @throws TypeError if an option is invalid, or a value cannot be written in a packet
 * @example
 * const { grammar } = aacpLanguage({ tasks: ['FETCH'], fields: { res: {}, fmt: { enum: ['json'], optional: true } } });
 * grammar.accepts('FETCH|HR|return:HR-Agent|aacp:1.1|res:salary|fmt:json') // true
 * grammar.accepts('FETCH|HR|return:HR-Agent|aacp:1.1|fmt:json') // false
 */
export function aacpLanguage(options: AacpLanguageOptions = {}): Language {
  const narrowing = resolveNarrowing(options);
  const { dialect, tasks, domains, fields } = narrowing;
  const narrowed = tasks !== null || domains !== null || fields !== null;
  const compiled = (overlay: string | undefined): Grammar =>
    compileGrammar(grammarText, {
      name: 'aacp',
      // The tolerant dialect accepts any text, so no other rule of the grammar is tried.
      startRule: dialect === 'tolerant' ? 'tolerant_packet' : 'packet',
      parseOptions: { dialect },
      ...(dialect === 'tolerant' ? {} : { gates: { tolerant: false } }),
      overrides: overlay,
    });
  const exportable = compiled(dialect === 'tolerant' ? undefined : packetOverrides(narrowing));
  return {
    name: 'aacp',
    grammar: narrowed ? exportable : compiled(undefined),
    exportable,
    narrowed,
    dialect,
    depth: null,
    words: { field: FIELDS, key: [...CORE_KEYS, 'amt'], task: Object.keys(TASKS), dom: Object.keys(DOMAINS) },
    read: (text) => readPacket(text, dialect),
    basisOf,
  };
}

function basisOf(reference: Answer, kind: DisagreementKind): string {
  if (!reference.ok) return `${DRAFT}, section ${sectionOf(reference.code ?? '')}`;
  return kind === 'different-canonical'
    ? `the canonical form that conformance/README.md gives to ${DRAFT}, sections 4.2 and 4.3`
    : `${DRAFT}, section 4`;
}

function sectionOf(code: string): string {
  if (code === 'bad-task' || code === 'bad-dom') return '4.1';
  if (code === 'bad-key') return '4.2';
  return Object.hasOwn(RULES, code) ? RULES[code as ValidationCode].section : '4';
}

function readPacket(text: string, dialect: Dialect): Answer {
  const result = tryParsePacket(text, { dialect });
  if (result.ok) {
    const canonical = canonicalText(result.value);
    return { ok: true, ast: jsonTree(result.value), ...(canonical === null ? {} : { canonical }) };
  }
  const { code, reason, span, message } = result.error;
  return { ok: false, code, reason, ...(span === null ? {} : { offset: span.start }), message };
}

/** Returns the canonical text of a packet, or `null` for a packet that only the tolerant dialect reads. */
function canonicalText(packet: Packet): string | null {
  try {
    return printPacket(canonicalizePacket(packet));
  } catch (thrown) {
    if (thrown instanceof PrintError) return null;
    throw thrown;
  }
}

/** The tokens for `textMateGrammar()` and `codeMirrorMode()`: those that `findPackets` and terminal highlighting use. */
export const aacpEditor: EditorLanguage = {
  name: 'AACP',
  id: 'aacp',
  fileTypes: ['aacp'],
  table: { states: packetTokens, start: 'start' },
  scopes: TOKEN_SCOPES,
};
