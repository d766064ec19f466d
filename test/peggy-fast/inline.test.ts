import { describe, expect, test } from 'vitest';
import { Facts } from '../../src/peggy-fast/facts.js';
import { type Inlined, rulesToInline } from '../../src/peggy-fast/inline.js';
import { lowered } from './lowered.js';

function inlined(grammar: string, where: keyof Inlined = 'building'): string[] {
  const program = lowered(grammar);
  return [...rulesToInline(program, new Facts(program, () => false))[where]].sort();
}

const letters = (count: number): string => Array.from({ length: count }, (_, index) => `"${index}"`).join(' ');

describe('rules that are inlined', () => {
  test('small ones, for any number of callers', () => {
    expect(inlined('start = item item other\nother = item\nitem = [a-z]+')).toContain('item');
  });

  test('larger ones for a single caller, up to a size', () => {
    expect(inlined(`start = once\nonce = ${letters(20)}`)).toContain('once');
    expect(inlined(`start = twice twice\ntwice = ${letters(20)}`)).not.toContain('twice');
    expect(inlined(`start = once\nonce = ${letters(150)}`)).not.toContain('once');
  });

  test('with the weight of their inlined parts', () => {
    const rules = `twice = six six\nsix = ${letters(6)}`;
    expect(inlined(`start = twice twice\n${rules}`)).toEqual(expect.arrayContaining(['six']));
    expect(inlined(`start = twice twice\n${rules}`)).not.toContain('twice');
  });

  test('if nothing is built, also larger ones for two callers, and less of a single one', () => {
    const twice = `start = twice twice\ntwice = ${letters(20)}`;
    expect(inlined(twice, 'matching')).toContain('twice');
    expect(inlined(twice.replace('twice twice', 'twice twice twice'), 'matching')).not.toContain('twice');
    expect(inlined(`start = twice twice\ntwice = ${letters(20)} [a-z]+`, 'matching')).toContain('twice');
    expect(inlined(`start = twice twice\ntwice = ${letters(20)} ("a" / "bc")+`, 'matching')).not.toContain('twice');
    expect(inlined(`start = once\nonce = ${letters(40)}`, 'matching')).not.toContain('once');
  });
});

describe('rules that stay functions', () => {
  test('one of each cycle, so that inlining ends', () => {
    expect(inlined('start = a\na = "(" b ")" / "a"\nb = "[" c "]"\nc = a').length).toBeLessThan(4);
    expect(inlined('start = "(" start ")" / "x"')).toEqual([]);
  });

  test('repetitions of items that may contain such repetitions', () => {
    expect(inlined('start = value\nvalue = list / "x"\nlist = "[" value|.., ","| "]"')).not.toContain('list');
  });
});
