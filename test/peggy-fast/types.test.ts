/** Types of TypeScript in the code of a grammar. */
import peggy from 'peggy';
import { describe, expect, test } from 'vitest';
import { parseModule } from '../../src/peggy-fast/effects/scopes.js';
import { javascriptOf } from '../../src/peggy-fast/effects/types.js';
import fast from '../../src/peggy-fast/peggy-plugin.js';

describe('types are replaced by blanks', () => {
  test.each<readonly [typed: string, plain: string]>([
    ['return (a as any).b;', 'return (a       ).b;'],
    ['return a!.b satisfies C;', 'return a .b            ;'],
    ['return <any>a;', 'return      a;'],
    ['const f = <T>(a?: T, ...b: T[]): T => a!;', 'const f =    (a    , ...b     )    => a ;'],
    ['let m: Map<string, A> = new Map<string, A>();', 'let m                 = new Map           ();'],
    ['interface A { b: string } type C = 1 | 2; declare const d: A; e();', `${' '.repeat(61)} e();`],
    ['const { a, b }: C = d;', 'const { a, b }    = d;'],
    ['try {} catch (e: unknown) { f(e as\n  Error); }', 'try {} catch (e         ) { f(e   \n       ); }'],
    ['class A { b: number = 1; c(d: E): void {} }', 'class A { b         = 1; c(d   )       {} }'],
  ])('%s', (typed, plain) => expect(javascriptOf(typed)).toBe(plain));

  test('and imports of types', () => {
    expect(javascriptOf('import type { A } from "a"; import { b } from "b"; const c: A = b;', parseModule)).toBe(
      `${' '.repeat(27)} import { b } from "b"; const c    = b;`,
    );
  });

  test.each(['return a < b && c > d;', 'return a ? b : c;', 'label: for (;;) break label;'])(
    'JavaScript is not changed: %s',
    (code) => expect(javascriptOf(code)).toBe(code),
  );

  test.each([
    'enum A { b }',
    'class A { constructor(private b: C) {} }',
    'return <b/>;',
    'return }',
    'namespace A { export const b = 1; }',
  ])('nor is what means more than types: %s', (code) => expect(javascriptOf(code)).toBe(code));
});

test('a grammar with types in its code has a scanner, which is JavaScript', () => {
  const notices: string[] = [];
  const grammar = `{
  interface Pair { key: string; value?: number }
  const seen: Set<string> = new Set<string>();
  function pair(key: string, value?: number): Pair { seen.add(key); return { key, value } as Pair; }
}
list = pairs:pair|.., ","| { return { pairs: pairs as Pair[], seen: [...seen] }; }
pair = key:$[a-z]+ value:("=" @number)? &{ return !seen.has(key as string); } { return pair(key, value ?? undefined); }
number = digits:$[0-9]+ { return Number(digits) as number; }
`;
  const parser = peggy.generate(grammar, { plugins: [fast], fast: { onNotice: (text) => void notices.push(text) } });
  expect(notices).toEqual([]);
  expect(parser.parse('a=1,b')).toEqual({ pairs: [{ key: 'a', value: 1 }, { key: 'b' }], seen: ['a', 'b'] });
  expect(() => parser.parse('a=1,a')).toThrow('Expected "=" or [a-z] but end of input found.');
});
