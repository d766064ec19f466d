/** Actions that are none of their own. */
import { isFormat } from './lexicon/kinds.js';
import { allOf, type Reader } from './reader.js';

/** Actions that hand over what another action has brought about. */
const HANDING: ReadonlySet<string> = new Set(['return', 'fetch', 'send', 'format', 'output', 'export']);

/** "Retrieve the salaries. I need all employees.": one action, said twice. */
export function joinRepeated(reader: Reader): void {
  for (let index = reader.actions.length - 1; index > 0; index--) {
    if (reader.actions[index] === reader.actions[index - 1]) dropAction(reader, index);
  }
}

/** "Return it as JSON" says in which form the answer is wanted. */
export function dropHanding(reader: Reader): void {
  for (let index = reader.actions.length - 1; index > 0; index--) {
    if (!HANDING.has(reader.actions[index]!) || reader.slots.some(({ action }) => action === index)) continue;
    const own = reader.contents.filter(({ action }) => action === index);
    const saysForm = own.length > 0 && own.every(({ key, light }) => light || isFormat(key) || key === 'result');
    if (!saysForm || own.some(({ role }) => role !== '')) continue;
    for (const one of own) one.light ||= one.key === 'result';
    dropAction(reader, index);
  }
}

/** What was said of it belongs to the one before. */
function dropAction(reader: Reader, index: number): void {
  reader.actions.splice(index, 1);
  for (const one of allOf(reader)) if (one.action >= index) one.action--;
}
