import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { codeFrame } from '../../src/text/code-frame.js';
import { columnsOf } from '../../src/text/visible.js';

/** The frame of a text whose span is marked by guillemets. */
function frameOf(marked: string, source?: Parameters<typeof codeFrame>[2]): string {
  const start = marked.indexOf('«');
  const end = marked.indexOf('»') - 1;
  return codeFrame(marked.replace(/[«»]/g, ''), { start, end }, source);
}

/** The source line and the line of carets. */
function shownAndCarets(frame: string): [shown: string, carets: string] {
  const [, , shown = '', carets = ''] = frame.split('\n');
  return [shown.slice(shown.indexOf('|') + 2), carets.slice(carets.indexOf('|') + 2)];
}

test('a span in one line', () => {
  expect(frameOf('@bot>req:run{k:12«:»30}')).toBe(
    [' --> input:1:18', '  |', '1 | @bot>req:run{k:12:30}', '  |                  ^'].join('\n'),
  );
});

test('the source can have a name, and lines before the text', () => {
  expect(frameOf('ab«c»', { name: 'log.txt', line: 120 })).toBe(
    ['   --> log.txt:120:3', '    |', '120 | abc', '    |   ^'].join('\n'),
  );
});

describe('lines', () => {
  test('only the line of the span is shown, with its number', () => {
    const frame = frameOf('first\nsec«on»d\nthird');
    expect(frame.split('\n')[0]).toBe(' --> input:2:4');
    expect(shownAndCarets(frame)).toEqual(['second', '   ^^']);
  });

  test('a span of several lines is marked up to the end of its first line', () => {
    expect(shownAndCarets(frameOf('first\nsec«ond\nthi»rd'))).toEqual(['second', '   ^^^']);
  });

  test('a line end at the start of the span is shown, with the text after it', () => {
    expect(shownAndCarets(frameOf('first«\n»second\nthird'))).toEqual(['first␊second', '     ^']);
  });

  test('the margin is as wide as the line number', () => {
    const frame = frameOf(`${'x\n'.repeat(99)}«y»`);
    expect(frame).toBe(['   --> input:100:1', '    |', '100 | y', '    | ^'].join('\n'));
  });
});

describe('ends', () => {
  test('the end of the text is marked after the last character', () => {
    expect(shownAndCarets(frameOf('abc«»'))).toEqual(['abc', '   ^']);
  });

  test('the start of the text', () => {
    expect(shownAndCarets(frameOf('«a»bc'))).toEqual(['abc', '^']);
  });

  test('the empty text', () => {
    expect(codeFrame('', { start: 0, end: 0 })).toBe([' --> input:1:1', '  |', '1 |', '  | ^'].join('\n'));
  });

  test('an empty last line', () => {
    expect(codeFrame('abc\n', { start: 4, end: 4 })).toBe([' --> input:2:1', '  |', '2 |', '  | ^'].join('\n'));
  });

  test('a span outside the text is clamped to it', () => {
    expect(codeFrame('abc', { start: 10, end: 20 })).toBe(frameOf('abc«»'));
    expect(codeFrame('abc', { start: -5, end: 1 })).toBe(frameOf('«a»bc'));
  });
});

describe('characters', () => {
  test('control, invisible and lone surrogate characters are replaced, and the carets are as wide', () => {
    expect(shownAndCarets(frameOf('a\tb\x1b«\u202e»c\ud800'))).toEqual(['a␉b␛<U+202E>c<U+D800>', '    ^^^^^^^^']);
  });

  test('wide characters take two columns', () => {
    expect(shownAndCarets(frameOf('漢字«漢»b'))).toEqual(['漢字漢b', '    ^^']);
    expect(shownAndCarets(frameOf('\u{1f600}«x»'))).toEqual(['\u{1f600}x', '  ^']);
  });
});

describe('long lines', () => {
  const long = (before: number, after: number) => frameOf(`${'a'.repeat(before)}«X»${'b'.repeat(after)}`);

  test('a line of 100 characters is shown whole', () => {
    expect(shownAndCarets(long(50, 49))).toEqual([`${'a'.repeat(50)}X${'b'.repeat(49)}`, `${' '.repeat(50)}^`]);
  });

  test('a longer one is cut on both sides of the span', () => {
    const shown = `...${'a'.repeat(36)}X${'b'.repeat(36)}...`;
    expect(shownAndCarets(long(5000, 5000))).toEqual([shown, `${' '.repeat(39)}^`]);
  });

  test('it is not cut at its own start or end', () => {
    expect(shownAndCarets(long(0, 200))).toEqual([`X${'b'.repeat(36)}...`, '^']);
    expect(shownAndCarets(long(200, 0))).toEqual([`...${'a'.repeat(36)}X`, `${' '.repeat(39)}^`]);
    expect(shownAndCarets(long(200, 5))).toEqual([`...${'a'.repeat(36)}Xbbbbb`, `${' '.repeat(39)}^`]);
  });

  test('a long span has 37 carets, up to the cut', () => {
    expect(shownAndCarets(frameOf(`«${'x'.repeat(500)}»`))).toEqual([`${'x'.repeat(37)}...`, '^'.repeat(37)]);
  });

  test('a long span in a line that is shown whole has 40 carets', () => {
    expect(shownAndCarets(frameOf(`«${'x'.repeat(90)}»`))).toEqual(['x'.repeat(90), '^'.repeat(40)]);
  });

  test('a cut does not split a surrogate pair', () => {
    const [shown] = shownAndCarets(frameOf(`${'\u{1f600}'.repeat(60)}x«X»y${'\u{1f600}'.repeat(60)}`));
    expect(shown).toMatch(/^\.\.\.\u{1f600}+xXy\u{1f600}+\.\.\.$/u);
  });
});

test('any span in any text is formatted as four lines, with the first caret below the span', () => {
  const spans = fc.tuple(fc.string({ unit: 'binary', maxLength: 200 }), fc.nat(200), fc.nat(20));
  fc.assert(
    fc.property(spans, ([text, start, length]) => {
      const frame = codeFrame(text, { start, end: start + length });
      expect(frame.split('\n')).toHaveLength(4);
      expect(frame.replaceAll('\n', '')).not.toMatch(/[\p{Cc}\p{Cs}]/u);
      const [shown, carets] = shownAndCarets(frame);
      expect(carets).toMatch(/^ *\^{1,40}$/);
      expect(carets.indexOf('^')).toBeLessThanOrEqual(columnsOf(shown));
    }),
  );
});
