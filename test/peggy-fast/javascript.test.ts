import { describe, expect, test } from 'vitest';
import { edited } from '../../src/peggy-fast/javascript.js';

const CODE = 'return add(left, right);';
const at = (word: string): { start: number; end: number } => ({
  start: CODE.indexOf(word),
  end: CODE.indexOf(word) + word.length,
});

describe('edits of code', () => {
  test('are made in any order', () => {
    const edits = [
      { ...at('right'), text: 'b$10' },
      { ...at('left'), text: '' },
    ];
    expect(edited(CODE, edits)).toBe('return add(, b$10);');
    expect(edited(CODE, [...edits].reverse())).toBe(edited(CODE, edits));
  });

  test('outside of the requested part are omitted', () => {
    const { start, end } = at('left, right');
    const edits = [
      { ...at('add'), text: 'sum' },
      { ...at('right'), text: 'r' },
    ];
    expect(edited(CODE, edits, start, end)).toBe('left, r');
  });

  test('no edits leave the code unchanged', () => {
    expect(edited(CODE, [])).toBe(CODE);
  });
});
