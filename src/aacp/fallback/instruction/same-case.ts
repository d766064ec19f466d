/** Instructions with the same normal form that are not the same: capital letters tell ids, addresses and quoted texts apart. */
import type { ValueItem } from './ast.js';
import { parseInstruction } from './parse.js';

/** Kinds of values in which capital letters count. */
const CASED: ReadonlySet<ValueItem['kind']> = new Set<ValueItem['kind']>(['id', 'quoted', 'email', 'url', 'handle']);

/**
 * Whether the packet of one instruction may be served for another that has the same normal form (draft-mackay-aacp-01, section
 * 6.3: the key is made of that). It may not where an id, a quoted text or an address is written with other capital letters,
 * unless the packet has it as this instruction has.
 *
 * @param kept the instruction that the packet was made for
 */
export function isSameCase(kept: string, given: string, packet: string): boolean {
  if (kept === given) return true;
  const [before, now] = [casedValues(kept), casedValues(given)];
  // One of them is too long to be read.
  if (before === null || now === null) return collapsed(kept) === collapsed(given);
  return now.every((value, index) => value === before[index] || packet.includes(value));
}

/** What tells instructions with one key apart: `''` for one whose capital letters say nothing. */
export function caseOf(instruction: string): string {
  const values = casedValues(instruction) ?? [collapsed(instruction)];
  return values.filter((value) => value !== value.toLowerCase()).join('\n');
}

function casedValues(instruction: string): readonly string[] | null {
  const items = parseInstruction(instruction);
  if (items === null) return null;
  return items.flatMap((item) => {
    if (item.kind === 'word' || item.kind === 'mark' || item.kind === 'span' || !CASED.has(item.kind)) return [];
    const text = instruction.slice(item.start, item.end);
    if (item.kind === 'quoted') return [collapsed(item.text)];
    return [item.kind === 'email' ? withSmallHost(text) : text];
  });
}

/** Names of hosts are the same in any case of letters; mailboxes are not. */
export function withSmallHost(email: string): string {
  const at = email.lastIndexOf('@');
  return email.slice(0, at) + email.slice(at).toLowerCase();
}

function collapsed(text: string): string {
  return text.trim().replace(/\s+/g, ' ');
}
