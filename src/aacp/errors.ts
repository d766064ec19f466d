import { type ParseErrorDetails, PrintError } from '../text/errors.js';
import { characterAt, characterName, type Expectation, expectedPhrases } from '../text/parser-errors.js';
import type { ParseCode } from './codes.js';
import { CONTROL } from './vocabulary.js';

/** Describes a syntax error at `offset` in terms of the slot that contains it. Calls `expectations` when the message is first read. */
export function syntaxError(
  text: string,
  offset: number,
  expectations: () => readonly Expectation[],
): ParseErrorDetails {
  const fault = faultAt(text, offset);
  const found = characterAt(text, fault.start);
  return {
    code: fault.code,
    reason: 'syntax',
    text,
    span: { start: fault.start, end: fault.end ?? fault.start + (found?.length ?? 0) },
    explain: () => ({
      ...fault,
      // The parser's expectations apply to its own offset only.
      expected: fault.start === offset ? expectedPhrases(expectations()) : [],
      found,
    }),
  };
}

export function unprintable(path: string, message: string, help?: string): PrintError {
  return new PrintError({ code: 'unprintable', path, message, help });
}

interface Fault {
  readonly code: ParseCode;
  readonly message: string;
  readonly start: number;
  readonly end?: number;
  readonly help?: string;
}

function faultAt(text: string, offset: number): Fault {
  if (text.trim() === '') return { code: 'empty-packet', message: 'The packet is empty.', start: 0 };
  const slot = slotAt(text, offset);
  const blanks = blanksAt(text, offset, slot);
  if (blanks !== null) {
    const help = 'remove it, or parse with the tolerant dialect';
    return { code: 'whitespace', message: 'White space around a token is not allowed.', ...blanks, help };
  }
  const found = characterAt(text, offset);
  if (found !== null && CONTROL.test(found)) {
    const message = `A packet cannot contain a control character (${characterName(found)}).`;
    return { code: 'control-character', message, start: offset };
  }
  if (slot.index === 0) return taskFault(text, offset, slot);
  if (slot.index === 1) return domFault(offset, slot);
  return fieldFault(text, offset, slot);
}

function taskFault(text: string, offset: number, slot: Slot): Fault {
  if (slot.start === slot.end)
    return { code: 'missing-task', message: 'Field 0, the TASK, is empty.', start: slot.start };
  if (offset === text.length) {
    const help = 'a packet is TASK|DOM|key:value|...';
    return { code: 'missing-dom', message: 'Field 1, the DOM, is missing.', start: offset, help };
  }
  if (/^@[^>|]*>/.test(text)) return { ...badWord('bad-task', 'TASK', offset), help: 'this looks like an ACCP frame' };
  return badWord('bad-task', 'TASK', offset);
}

function domFault(offset: number, slot: Slot): Fault {
  if (slot.start === slot.end)
    return { code: 'missing-dom', message: 'Field 1, the DOM, is empty.', start: slot.start };
  return badWord('bad-dom', 'DOM', offset);
}

function badWord(code: ParseCode, what: string, offset: number): Fault {
  const message = `A ${what} consists of capital letters, digits, "_" and "-", and begins with a letter.`;
  return { code, message, start: offset, help: 'the tolerant dialect and the validator accept other words' };
}

function fieldFault(text: string, offset: number, slot: Slot): Fault {
  if (slot.start === slot.end) {
    const help = 'v1.1 packets have no empty slots; remove one "|"';
    return { code: 'empty-field', message: 'There is an empty field between two separators.', start: slot.start, help };
  }
  const colon = slot.text.indexOf(':');
  if (colon < 0) {
    // A backslash before the separator suggests an attempt to escape it.
    const help =
      text[slot.start - 2] === '\\' ? 'AACP has no escapes: a value cannot contain "|"' : 'write fields as key:value';
    return { code: 'malformed-field', message: 'The field has no colon.', start: slot.start, end: slot.end, help };
  }
  if (colon === 0) return { code: 'empty-key', message: 'The field has no key.', start: slot.start };
  const message = 'A key consists of lower-case letters, digits and "_", and begins with a letter.';
  return { code: 'bad-key', message, start: offset, help: 'the tolerant dialect and the validator accept other keys' };
}

interface Slot {
  /** 0 for the TASK, 1 for the DOM, 2 and up for the fields. */
  readonly index: number;
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

/** Returns the slot at an offset. At a separator, that is the slot before it, unless the separator closes an empty slot. */
function slotAt(text: string, offset: number): Slot {
  const before = text.slice(0, offset).split('|');
  const start = offset - before.at(-1)!.length;
  const end = offset + text.slice(offset).split('|', 1)[0]!.length;
  return { index: before.length - 1, start, end, text: text.slice(start, end) };
}

/** Returns the blanks at `offset` if they are at the edge of a token, not inside a value. */
function blanksAt(text: string, offset: number, slot: Slot): { start: number; end: number } | null {
  let start = offset;
  while (start > slot.start && isBlank(text[start - 1]!)) start--;
  let end = offset;
  while (end < slot.end && isBlank(text[end]!)) end++;
  if (start === end) return null;
  const colon = slot.text.indexOf(':');
  const atColon = slot.index > 1 && colon >= 0 && (start === slot.start + colon + 1 || end === slot.start + colon);
  return start === slot.start || end === slot.end || atColon ? { start, end } : null;
}

function isBlank(character: string): boolean {
  return ' \t\r\n'.includes(character);
}
