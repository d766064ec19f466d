/** Changes that could mend a packet that the validator or the lint rules report. */
import { type Fix, suggestedWord } from '../../text/fix.js';
import type { Span } from '../../text/span.js';
import { quotedShort } from '../../text/visible.js';
import { lowerAscii, PRIORITIES, TASKS, TONES, VERSION } from '../vocabulary.js';

/** The parts of a diagnostic of a packet that its fixes depend on. */
interface PacketFinding {
  readonly code: string;
  readonly span: Span;
  readonly help?: string | undefined;
}

/** Medium priority. */
const PRIORITY = '2';
const CURRENCIES = ['USD', 'EUR', 'GBP'];

/** Returns the changes that could remove a finding of the validator or of the lint rules, the likeliest first; the caller tries each. */
export function diagnosticFixes(text: string, finding: PacketFinding): readonly Fix[] {
  const { span } = finding;
  const word = suggestedWord(finding);
  const replace = (by: string): Fix => ({ title: `Replace with ${quotedShort(by)}`, span, text: by });
  const add = (field: string): Fix => {
    const end = text.trimEnd().length;
    return {
      title: `Add ${quotedShort(field)}`,
      span: { start: end, end: text.length },
      text: `${text[end - 1] === '|' ? '' : '|'}${field}`,
    };
  };
  const inserted = (by: string): readonly Fix[] =>
    [by, `${by}|`, `|${by}`].map((insert) => ({ title: `Insert ${quotedShort(by)}`, span, text: insert }));
  // A field in the place of the DOM.
  const domain = (): readonly Fix[] => {
    const start = /^[^|]*\|(?=[^|:]*:)/.exec(text)?.[0].length;
    return start === undefined ? [] : [{ title: 'Insert "HR"', span: { start, end: start }, text: 'HR|' }];
  };
  if (word !== undefined) return [replace(word)];
  switch (finding.code) {
    case 'missing-task':
      return inserted(Object.keys(TASKS)[0]!);
    case 'missing-dom':
      return inserted('HR');
    case 'unknown-dom':
      return domain();
    case 'missing-return':
      // Without a DOM, `return` is in its place.
      return [...domain(), add('return:AGENT')];
    case 'empty-return':
      return [replace('AGENT')];
    case 'missing-aacp':
      return [add(`aacp:${VERSION}`)];
    case 'missing-p':
      return [add(`p:${PRIORITY}`)];
    case 'sentiment-without-tone':
      return Object.keys(TONES).map((tone) => add(`tone:${tone}`));
    case 'ltv-without-ccy':
      return CURRENCIES.map((currency) => add(`ccy:${currency}`));
    case 'empty-aacp':
    case 'version-mismatch':
      return [replace(VERSION)];
    case 'bad-priority':
      return [PRIORITY, ...Object.keys(PRIORITIES)].map(replace);
    case 'key-case':
      return [replace(lowerAscii(text.slice(span.start, span.end)))];
    case 'currency-form':
      return [replace(text.slice(span.start, span.end).toUpperCase())];
    case 'whitespace':
      return [
        {
          title: 'Remove the white space around the tokens',
          span: { start: 0, end: text.length },
          text: trimmed(text),
        },
      ];
    case 'control-character':
      return [{ title: 'Remove the character', span, text: '' }];
    case 'empty-field':
    case 'empty-value':
    case 'duplicate-key':
    case 'empty-key':
      return [removal(text, span.start)];
    case 'malformed-field': {
      const colon = text.slice(span.start, span.end).replace('=', ':');
      return [replace(colon), removal(text, span.start)];
    }
    default:
      return [];
  }
}

/** Returns the removal of the slot at an offset, with the separator before it. */
function removal(text: string, at: number): Fix {
  const start = Math.max(0, text.lastIndexOf('|', at - 1));
  const next = text.indexOf('|', at);
  const end = next < 0 ? text.length : next;
  return { title: `Remove ${quotedShort(text.slice(start, end))}`, span: { start, end }, text: '' };
}

/** Removes the white space that parsers remove. */
function trimmed(text: string): string {
  return text
    .split('|')
    .map((slot, index) =>
      slot
        .replace(/^[ \t\r\n]+|[ \t\r\n]+$/g, '')
        .replace(index > 1 ? /^([^:]*?)[ \t]*:[ \t]*/ : /^()/, index > 1 ? '$1:' : ''),
    )
    .join('|');
}
