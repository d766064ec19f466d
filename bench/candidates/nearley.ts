/** nearley with moo as its lexer; the grammar in the form that `nearleyc` would write. */
import type { Frame, Param, Value } from '../../src/accp/ast.js';
import type { Candidate, Read } from '../../src/bench/candidate.js';
import {
  AGENT_ID,
  checkItems,
  checkText,
  distinct,
  INTENT,
  named,
  PATH,
  Refusal,
  typedLiteral,
  WORD,
} from './rules.js';

export const nearley: Candidate = { id: 'nearley', name: 'nearley with moo', protocol: 'accp', builds: 'ast', prepare };

interface Token {
  readonly value: string;
}

async function prepare(): Promise<Read> {
  const { default: moo } = await import('moo');
  const { default: library } = await import('nearley');

  // Names and values share most characters, so one token stands for all of them and the actions look at what is in it.
  const lexer = moo.compile({
    text: /(?:[!-#%-+\--9;-=?A-Z^-z]|\\[@>:{}[\]|$,~\\])+/,
    mark: ['@', '>', ':', '{', '}', '[', ']', '|', ',', '$', '~'],
  });
  const text = { type: 'text' };
  const mark = (literal: string): object => ({ literal });
  const list = (name: string, item: string, separator: string): typeof rules => [
    { name, symbols: [item], postprocess: ([one]: [unknown]) => [one] },
    {
      name,
      symbols: [name, mark(separator), item],
      postprocess: ([all, , one]: [unknown[], Token, unknown]) => {
        // One derivation is all that there is: the list belongs to nobody else.
        all.push(one);
        return all;
      },
    },
  ];
  const rules: import('nearley').Rule[] = [];
  rules.push(
    {
      name: 'frame',
      symbols: [mark('@'), text, mark('>'), text, mark(':'), text, mark('{'), 'payload', mark('}'), 'metadata'],
      postprocess: (
        parts: [unknown, Token, unknown, Token, unknown, Token, unknown, Param[], unknown, Param[] | null],
      ): Frame => ({
        kind: 'frame',
        agent: named(parts[1].value, AGENT_ID),
        intent: named(parts[3].value, INTENT),
        operation: named(parts[5].value, WORD),
        payload: parts[7],
        metadata: parts[9],
      }),
    },
    { name: 'payload', symbols: [], postprocess: () => [] },
    { name: 'payload', symbols: ['params'], postprocess: ([params]: [Param[]]) => distinct(params) },
    { name: 'metadata', symbols: [], postprocess: () => null },
    {
      name: 'metadata',
      symbols: [mark('['), 'pairs', mark(']')],
      postprocess: ([, pairs]: [unknown, Param[]]) => distinct(pairs),
    },
    ...list('params', 'param', '|'),
    ...list('pairs', 'param', ','),
    ...list('items', 'value', ','),
    {
      name: 'param',
      symbols: [text, mark(':'), 'value'],
      postprocess: ([key, , value]: [Token, Token, Value]): Param => ({ key: named(key.value, WORD), value }),
    },
    { name: 'value', symbols: [text], postprocess: ([token]: [Token]): Value => typedLiteral(token.value) },
    { name: 'value', symbols: [mark('~')], postprocess: (): Value => ({ kind: 'null' }) },
    {
      name: 'value',
      symbols: [mark('$'), text],
      postprocess: ([, path]: [Token, Token]): Value => ({ kind: 'ref', path: named(path.value, PATH) }),
    },
    { name: 'value', symbols: [mark('['), mark(']')], postprocess: (): Value => ({ kind: 'array', items: [] }) },
    {
      name: 'value',
      symbols: [mark('['), 'items', mark(']')],
      postprocess: ([, items]: [Token, Value[]]): Value => ({ kind: 'array', items }),
    },
    { name: 'value', symbols: [mark('{'), mark('}')], postprocess: (): Value => ({ kind: 'map', entries: [] }) },
    {
      name: 'value',
      symbols: [mark('{'), 'pairs', mark('}')],
      postprocess: ([, entries]: [Token, Param[]]): Value => ({ kind: 'map', entries: distinct(entries) }),
    },
  );
  const grammar = library.Grammar.fromCompiled({ Lexer: lexer, ParserRules: rules, ParserStart: 'frame' });
  return (input) => {
    checkText(input);
    const { results } = new library.Parser(grammar).feed(input);
    if (results.length !== 1) throw new Refusal('cut off');
    return checkItems(results[0] as Frame);
  };
}
