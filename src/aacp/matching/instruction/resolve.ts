/** What a relative time is on the calendar. */
import type { ValueItem } from './ast.js';
import { daysLater, isoDay, isoWeek, monthsLater, quarterOf } from './calendar.js';
import { parseInstruction } from './parse.js';
import { type Slot, slotOf } from './slots.js';

const STEPS: ReadonlyMap<string, number> = new Map([
  ['last', -1],
  ['this', 0],
  ['next', 1],
]);

const DAYS: ReadonlyMap<string, number> = new Map([
  ['yesterday', -1],
  ['today', 0],
  ['tomorrow', 1],
]);

/**
 * The day, week, month, quarter or year that a slot means when it is said at a time. `null` for what needs more than a
 * calendar: fiscal years, weekdays, ends of periods.
 *
 * @param now milliseconds since 1970
 */
export function resolveRelative(slot: Slot, now: number): Slot | null {
  if (slot.item?.kind !== 'relative') return null;
  const text = calendarText(slot.item, now);
  if (text === null) return null;
  const [item] = parseInstruction(text) ?? [];
  if (item === undefined || item.kind === 'word' || item.kind === 'mark' || item.kind === 'span') return null;
  return { ...slotOf(item, text), start: slot.start, end: slot.end };
}

function calendarText({ which, unit }: Extract<ValueItem, { kind: 'relative' }>, now: number): string | null {
  const days = DAYS.get(which);
  if (unit === 'day' && days !== undefined) return isoDay(daysLater(now, days));
  const step = STEPS.get(which);
  if (step === undefined) return null;
  if (unit === 'week') return isoWeek(daysLater(now, 7 * step));
  if (unit === 'month') return isoDay(monthsLater(now, step)).slice(0, -3);
  if (unit === 'quarter') return quarterOf(monthsLater(now, 3 * step));
  if (unit === 'year') return isoDay(monthsLater(now, 12 * step)).slice(0, -6);
  return null;
}
