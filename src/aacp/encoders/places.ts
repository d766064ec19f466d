/** Where the inputs of a packet stand in it. */
import type { Span } from '../../text/span.js';
import type { Run } from './losses.js';
import { normalised } from './normalise.js';
import type { FieldPlan, Slot } from './plan.js';
import { writeField, writeItem } from './write-field.js';

/** What stands for an input at one place of a packet. */
export interface InputPlace extends Span {
  readonly slot: Slot;
  /** Where the items of a list start; of any other input, where it starts. */
  readonly items: readonly number[];
}

/** In the order of the packet, where none is empty and no two overlap. */
export function placesOf(packet: string, run: Run): readonly InputPlace[] {
  const places: InputPlace[] = [];
  let behind = 0;
  for (const field of run.program.fields) {
    const text = writeField(field, run);
    // The fields stand in this order; no value holds a "|", and no key stands twice.
    const at = text === null ? -1 : packet.indexOf(field.start, behind);
    if (at < 0) continue;
    addPlaces(field, at + field.start.length, run, places);
    behind = at + field.start.length + text!.length;
  }
  return places;
}

function addPlaces({ items }: FieldPlan, start: number, run: Run, places: InputPlace[]): void {
  let at = start;
  for (const item of items) {
    if (writeItem(item, run) === null) continue;
    for (const piece of item.pieces) {
      if (typeof piece === 'string') at += piece.length;
      else {
        const text = piece.normalise.reduce(normalised, run.texts[piece.slot] ?? '');
        if (text !== '') places.push(placeOf(run.program.slots[piece.slot]!, text, at));
        at += text.length;
      }
    }
    // The comma.
    at += 1;
  }
}

function placeOf(slot: Slot, text: string, start: number): InputPlace {
  const items = [start];
  if (slot.list) {
    for (let comma = text.indexOf(','); comma >= 0; comma = text.indexOf(',', comma + 1)) items.push(start + comma + 1);
  }
  return { slot, items, start, end: start + text.length };
}

/**
 * The input that has most of a part of the packet, with the item of a list in which that part begins, such as `fields[1]`;
 * `null` for what the workflow, or the option `pointer`, wrote.
 */
export function inputAt(span: Span | null, places: readonly InputPlace[]): string | null {
  if (span === null) return null;
  let most = 0;
  let found: InputPlace | null = null;
  for (let at = countOf(places, ({ end }) => end <= span.start); at < places.length; at++) {
    const place = places[at]!;
    if (place.start >= span.end) break;
    const shared = Math.min(place.end, span.end) - Math.max(place.start, span.start);
    if (shared > most) {
      most = shared;
      found = place;
    }
  }
  if (found === null) return null;
  const { slot, items } = found;
  if (!slot.list) return slot.name;
  const begun = countOf(items, (start) => start <= span.start);
  return `${slot.name}[${Math.max(0, begun - 1)}]`;
}

/** How many of the first elements are so, none behind them being: by binary search, as there may be a finding in each item. */
function countOf<T>(sorted: readonly T[], isSo: (element: T) => boolean): number {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (isSo(sorted[middle]!)) low = middle + 1;
    else high = middle;
  }
  return low;
}
