import { describe, expect, test } from 'vitest';
import { checkAbnf } from '../../../src/grammar-export/abnf/check.js';
import { parseAbnf, withCoreRules } from '../../../src/grammar-export/abnf/parse.js';
import { printAbnf } from '../../../src/grammar-export/abnf/print.js';

/** The code and the name of each diagnostic. */
function found(text: string, startRule?: string): string[] {
  return checkAbnf(parseAbnf(text), { startRule }).map(({ code, message }) => `${code} ${/"(.*?)"/.exec(message)![1]}`);
}

describe('definitions', () => {
  const cases: readonly (readonly [name: string, text: string, findings: readonly string[]])[] = [
    ['a grammar without faults', 'x = y / ALPHA\ny = 1*digit\ny =/ "-"', []],
    ['an empty grammar', '', []],
    ['a rule that is not defined', 'x = y (z / *y)', ['undefined-rule y', 'undefined-rule z']],
    [
      'names in another case',
      'Doc = sub-RULE\nSub-Rule = crlf / DOC',
      ['left-recursion Doc', 'left-recursion Sub-Rule'],
    ],
    ['a rule that is defined twice', 'x = "a"\nX = "b"', ['duplicate-rule X']],
    ['a rule that is extended first', 'x = y\ny =/ "a"\n', ['nothing-to-extend y']],
    ['a core rule that is defined anew', 'x = DIGIT\ndigit = "0"', []],
    [
      'rules that are not used',
      'x = "a"\ny = z\nz = y "a"',
      ['unused-rule y', 'unused-rule z', 'left-recursion y', 'left-recursion z'],
    ],
    ['a range backwards', 'x = [%x5A-41]', ['empty-range x']],
    ['a repetition backwards', 'x = 2*1"a"', ['empty-repetition x']],
  ];

  test.each(cases)('%s', (_name, text, findings) => {
    expect(found(text)).toEqual(findings);
  });

  test('unused rules depend on the start rule', () => {
    expect(found('x = "a"\ny = x\nz = y')).toEqual(['unused-rule y', 'unused-rule z']);
    expect(found('x = "a"\ny = x\nz = y', 'Y')).toEqual(['unused-rule z']);
    expect(() => found('x = "a"', 'y')).toThrow(TypeError);
  });

  test('diagnostics have a place, a severity and a fix', () => {
    const text = 'x = yours\nX = "a"\nyour = "b"';
    const findings = checkAbnf(parseAbnf(text, { spans: true }));
    expect(findings).toEqual([
      expect.objectContaining({ code: 'duplicate-rule', severity: 'error', related: [{ start: 0, end: 1 }] }),
      expect.objectContaining({ code: 'undefined-rule', severity: 'error', help: 'did you mean "your"?' }),
      expect.objectContaining({ code: 'unused-rule', severity: 'warning', span: { start: 18, end: 22 } }),
    ]);
    expect(findings[1]!.span).toEqual({ start: 4, end: 9 });
    for (const { span } of checkAbnf(parseAbnf(text))) expect(span).toBeNull();
  });
});

describe('left recursion', () => {
  const cases: readonly (readonly [name: string, text: string, recursive: readonly string[]])[] = [
    ['direct', 'x = x "a" / "a"', ['x']],
    ['through others', 'x = y\ny = "a" / z\nz = x', ['x', 'y', 'z']],
    ['behind what may be empty', 'x = [a] *b e 0c "" x\na = "a"\nb = "b"\nc = "c"\ne = *a [b] / "c"', ['x']],
    ['behind what is never empty', 'x = 1*a x / ["a"] 2("b") x / "" 1*2["c"] "d" x\na = %x20', []],
    ['of a rule that is empty by two ways', 'x = y y x\ny = z z\nz = "" / z', ['x', 'z']],
    ['within a repetition that is never done', 'x = *0x "a"', []],
    ['in an alternative that comes later', 'x = "a"\nx =/ x "b"', ['x']],
    ['not of those that lead there or come from there', 'x = y\ny = y z\nz = "a"', ['y']],
    ['through a core rule', 'x = WSP\nWSP = lwsp "a"', ['WSP']],
    ['two cycles side by side', 'x = a / c\na = b\nb = a\nc = d\nd = c', ['a', 'b', 'c', 'd']],
  ];

  test.each(cases)('%s', (_name, text, recursive) => {
    const findings = checkAbnf(parseAbnf(text));
    const names = findings.filter(({ code }) => code === 'left-recursion').map(({ message }) => message.split('"')[1]);
    expect(names).toEqual(recursive);
  });

  test('long chains of rules are followed to their end', () => {
    const count = 20_000;
    const chain = Array.from({ length: count }, (_, index) => `r${index} = [r${index + 1}]`).join('\n');
    expect(found(`${chain}\nr${count} = "a"`)).toEqual([]);
    expect(found(`${chain}\nr${count} = r0`)).toHaveLength(count + 1);
  });
});

describe('core rules', () => {
  const added = (text: string): string =>
    printAbnf(withCoreRules(parseAbnf(text))).slice(printAbnf(parseAbnf(text)).length);

  test('are added if they are used, with those that they use', () => {
    expect(added('x = "a"')).toBe('');
    expect(added('x = Crlf [digit]')).toBe('CRLF = CR LF\nCR = %x0D\nLF = %x0A\nDIGIT = %x30-39\n');
  });

  test('are left unchanged if the grammar redefines them', () => {
    expect(added('x = hexdig\ndigit = "0"')).toBe('HEXDIG = DIGIT / "A" / "B" / "C" / "D" / "E" / "F"\n');
  });

  test('a grammar with all of them is correct', () => {
    const names = 'ALPHA BIT CHAR CR CRLF CTL DIGIT DQUOTE HEXDIG HTAB LF LWSP OCTET SP VCHAR WSP';
    expect(checkAbnf(withCoreRules(parseAbnf(`x = ${names}`)))).toEqual([]);
    expect(checkAbnf(parseAbnf(`x = ${names}`))).toEqual([]);
  });
});
