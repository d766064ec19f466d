/** The bracket form of v0.1: `[TASK:FETCH][DOM:HR][RETURN:HR-Agent][AACP:0.1]`. */
import { quotedShort as show } from '../../text/visible.js';
import type { Field, Packet } from '../ast.js';
import { CORE_KEYS, EXTENDED_KEYS, lowerAscii, VERSION } from '../vocabulary.js';
import { createNotes, type Notes, refused } from './upgrade-notes.js';

const KNOWN: ReadonlySet<string> = new Set(['task', 'dom', ...CORE_KEYS, ...EXTENDED_KEYS]);

export function isBracketPacket(text: string): boolean {
  return text.trimStart().startsWith('[');
}

/**
 * Reads `[KEY:value]` again and again. Keys are those of v1.1 in capitals; others are refused, as nothing tells what they
 * have become.
 *
 * @throws ParseError on anything else
 */
export function readBracketPacket(text: string): { readonly packet: Packet; readonly notes: Notes } {
  const notes = createNotes();
  const all = groupsOf(text);
  const textOf = (name: string): string => all.find(({ key }) => key === name)?.value ?? '';
  const task = textOf('task');
  const domain = textOf('dom');
  if (task === '') throw refused(text, 'missing-task', 'There is no [TASK:...].', { start: 0, end: 0 });
  if (domain === '') throw refused(text, 'missing-dom', 'There is no [DOM:...].', { start: 0, end: 0 });
  notes.add('bracket-form', `The packet was in brackets; it is of version ${VERSION} now.`, {
    start: 0,
    end: text.length,
  });
  const fields = all.filter(({ key }) => key !== 'task' && key !== 'dom' && key !== 'aacp');
  fields.push({ key: 'aacp', value: VERSION });
  return { packet: { kind: 'packet', task, domain, fields }, notes };
}

function groupsOf(text: string): readonly Field[] {
  const group = /\s*\[([^:[\]|]*):([^[\]|]*)\]/y;
  const fields: Field[] = [];
  const end = text.trimEnd().length;
  let at = 0;
  while (at < end) {
    group.lastIndex = at;
    const match = group.exec(text);
    if (match === null) {
      throw refused(text, 'malformed-field', 'Expected [KEY:value].', {
        start: at,
        end: Math.min(at + 1, text.length),
      });
    }
    const span = { start: at + match[0].indexOf('['), end: group.lastIndex };
    fields.push({ key: knownKey(match[1]!.trim(), text, span), value: match[2]!.trim(), span });
    at = group.lastIndex;
  }
  const seen = new Set<string>();
  for (const { key, span } of fields) {
    if (seen.has(key)) throw refused(text, 'duplicate-key', `The field ${show(key)} is there twice.`, span);
    seen.add(key);
  }
  return fields;
}

function knownKey(key: string, text: string, span: { readonly start: number; readonly end: number }): string {
  const lower = lowerAscii(key);
  if (KNOWN.has(lower)) return lower;
  throw refused(text, 'bad-key', `The key ${show(key)} is none of v${VERSION}.`, span);
}
