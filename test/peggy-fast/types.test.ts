/** Types of TypeScript in the code of a grammar. */
import peggy from 'peggy';
import { describe, expect, test } from 'vitest';
import { parseModule } from '../../src/peggy-fast/effects/scopes.js';
import { javascriptOf } from '../../src/peggy-fast/effects/types.js';
import { Unsupported } from '../../src/peggy-fast/ir.js';
import fast from '../../src/peggy-fast/peggy-plugin.js';

describe('types are replaced by blanks', () => {
  test.each<readonly [typed: string, plain: string]>([
    ['return (a as any).b;', 'return (a       ).b;'],
    ['return a!.b satisfies C;', 'return a .b            ;'],
    ['return <any>a;', 'return      a;'],
    ['const f = <T>(a?: T, ...b: T[]): T => a!;', 'const f =    (a    , ...b     )    => a ;'],
    ['let m: Map<string, A> = new Map<string, A>();', 'let m                 = new Map           ();'],
    [
      'interface A { b: string } type C = 1 | 2; declare const d: A; e();',
      `;${' '.repeat(24)} ;${' '.repeat(14)} ;${' '.repeat(18)} e();`,
    ],
    ['const { a, b }: C = d;', 'const { a, b }    = d;'],
    ['try {} catch (e: unknown) { f(e as\n  Error); }', 'try {} catch (e         ) { f(e   \n       ); }'],
    ['return ((a || b) as C) && d;', 'return ((a || b)     ) && d;'],
    ['return (a || b) as C && d;', 'return (a || b)      && d;'],
    ['return () => ({ a }) as B;', 'return () => ({ a })     ;'],
    ['return <A>(b, c);', 'return    (b, c);'],
    ['return (\n a) as B;', 'return (\n a)     ;'],
    ['const a = b as C\nd();', 'const a = b     \nd();'],
    ['const a = b as C\n- d;', 'const a = b     \n- d;'],
    ['const a = b!\n(c);', 'const a = b \n(c);'],
    ['const a = b\ntype C = 1\n;[a].forEach(d)', 'const a = b\n;         \n [a].forEach(d)'],
    ['const a = b\ninterface C {}\n(a)()', 'const a = b\n;             \n(a)()'],
    ['const a = b\ndeclare const c: D\n`e`', 'const a = b\n;                 \n`e`'],
    ['class A { b: number = 1; c(d: E): void {} }', 'class A { b         = 1; c(d   )       {} }'],
  ])('%s', (typed, plain) => expect(javascriptOf(typed)).toBe(plain));

  test('and imports of types', () => {
    expect(javascriptOf('import type { A } from "a"; import { b } from "b"; const c: A = b;', parseModule)).toBe(
      `;${' '.repeat(26)} import { b } from "b"; const c    = b;`,
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

describe('code that has another meaning without its types, or as JavaScript, is refused', () => {
  test.each([
    'const a = b as string\n(c)()',
    'const a = b as C // d\n[e].forEach(f)',
    'const a = b satisfies C /* d\n*/ `e`',
    'const a = b as string\n<any>(c)()',
    'return <A>\n b',
    'return <A>\n(b: A) => b',
    'return <{\n a: 1 }>b',
    'return <A // c\n>b',
    'return a<B>(c)',
    'return a<B, C>(d)',
    'return a<B>`c`',
  ])('%s', (code) => expect(() => javascriptOf(code)).toThrow(Unsupported));

  test('and its grammar is left to Peggy', () => {
    const notices: string[] = [];
    const grammar = '{ let n = 0; const make = () => n++; const string = 1; }\ns = ("a" { return make<string>(1); })+';
    const parser = peggy.generate(grammar, { plugins: [fast], fast: { onNotice: (text) => void notices.push(text) } });
    expect(parser.parse('a')).toEqual([false]);
    expect(notices).toEqual([expect.stringContaining('a comparison in JavaScript')]);
  });
});

test('a statement of types does not join the lines around it', () => {
  const grammar = `start = "a" { const list = [1]
type Item = number
;[2].forEach((item: Item) => list.push(item))
interface Other { a: Item }
[3].forEach((item) => list.push(item))
return list as Item[]; }`;
  expect(peggy.generate(grammar, { plugins: [fast], fast: { required: true } }).parse('a')).toEqual([1, 2, 3]);
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
