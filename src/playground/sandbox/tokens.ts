/** A token table for any grammar: its literals, and the rules that refer to no other rule. */
import { compileGrammar, type EditorLanguage, exportGrammar, type Grammar } from '../../engine-portable.js';

/** Scopes by what the name of a rule suggests. */
const SCOPES = [
  [/comment/i, 'comment.line', 'comment'],
  [/num|int|digit|float|decimal/i, 'constant.numeric', 'number'],
  [/bool|true|null/i, 'constant.language', 'bool'],
  [/string|text|quote|char/i, 'string.quoted', 'string'],
  [/name|ident|word|key|variable/i, 'variable.other', 'variableName'],
] as const;
const OTHER = ['', 'entity.name', 'propertyName'] as const;

interface Node {
  readonly type?: string;
  readonly value?: unknown;
}

/** @throws TypeError if the grammar has no tokens */
export function editorLanguage(grammar: Grammar, source: string): EditorLanguage {
  const rules: Record<string, RegExp | string[] | { match: RegExp; lineBreaks: true }> = {};
  const scopes: Record<string, { textMate: string; codeMirror: string }> = {};
  const words = new Set<string>();
  const signs = new Set<string>();
  const leaves: string[] = [];
  for (const { name, expression } of grammar.ast.rules) {
    if (nodesOf(expression, 'rule_ref').length === 0) leaves.push(name);
    else {
      for (const { value } of nodesOf(expression, 'literal')) {
        if (typeof value !== 'string' || value === '' || /\s/.test(value)) continue;
        (/^\w/.test(value) ? words : signs).add(value);
      }
    }
  }
  if (words.size > 0) rules['keywords'] = [...words];
  scopes['keywords'] = { textMate: 'keyword.control', codeMirror: 'keyword' };
  for (const name of leaves) {
    const pattern = patternOf(source, name);
    if (pattern === null) continue;
    rules[`rule_${name}`] = pattern;
    const [, textMate, codeMirror] = SCOPES.find(([form]) => form.test(name)) ?? OTHER;
    scopes[`rule_${name}`] = { textMate: `${textMate}.${name.toLowerCase()}`, codeMirror };
  }
  if (signs.size > 0) rules['signs'] = [...signs];
  scopes['signs'] = { textMate: 'punctuation.separator', codeMirror: 'separator' };
  if (Object.keys(rules).length === 0)
    throw new TypeError('The grammar has no literals, and no rules without references, to make tokens of.');
  return {
    name: 'Grammar',
    id: 'grammar',
    fileTypes: ['txt'],
    table: { states: { main: rules }, start: 'main' },
    scopes,
  };
}

/** Returns the pattern of a rule; null if it is not regular, or matches the empty text or white space. */
function patternOf(source: string, rule: string): RegExp | null {
  try {
    const lines = exportGrammar(compileGrammar(source, { name: 'grammar', startRule: rule }), { to: 'regex' })
      .trimEnd()
      .split('\n');
    const body = /^\/\^(.*)\$\/u?$/s.exec(lines.at(-1)!)?.[1];
    if (body === undefined) return null;
    const pattern = new RegExp(body, 'u');
    return new RegExp(`^(?:${body})$`, 'u').test('') || /^\s/.test(pattern.exec(' \n\t')?.[0] ?? '') ? null : pattern;
  } catch {
    return null;
  }
}

/** Finds the nodes of a type in an expression of Peggy's tree. */
function nodesOf(expression: unknown, type: string): readonly Node[] {
  if (typeof expression !== 'object' || expression === null) return [];
  if ((expression as Node).type === type) return [expression as Node];
  return Object.entries(expression).flatMap(([key, value]) =>
    key === 'location' ? [] : [value].flat().flatMap((one) => nodesOf(one, type)),
  );
}
