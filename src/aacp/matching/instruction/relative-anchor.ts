/** What the relative times of an instruction refer to. */
import type { InstructionItem, ValueItem } from './ast.js';
import { isoDay, isoWeek, quarterOf } from './calendar.js';
import { parseInstruction } from './parse.js';
import { slotOf } from './slots.js';

/** A length of the calendar. */
export type Unit = 'day' | 'week' | 'month' | 'quarter' | 'year';

/** Finest first. */
const UNITS: readonly Unit[] = ['day', 'week', 'month', 'quarter', 'year'];

/**
 * The day, week, month, quarter or year (UTC) that the relative times of an instruction refer to, by the finest that it
 * uses: `2026-11` for "last month", `2026` for "Q2". The same words mean something else when this is another.
 *
 * @param now milliseconds since 1970
 * @returns `null` where nothing in the instruction depends on the time
 */
export function relativeAnchor(instruction: string, now: number): string | null {
  const unit = relativeUnit(instruction);
  return unit === null ? null : anchorAt(unit, now);
}

/**
 * The normal form of an instruction together with what its relative times refer to: what a registry keeps it under.
 *
 * @param plain its normal form
 */
export function anchoredForm(plain: string, unit: Unit | null, now: number): string {
  // Behind two spaces, which no normal form has: no other instruction can look like it.
  return unit === null ? plain : `${plain}  ${anchorAt(unit, now)}`;
}

/** The finest unit that the relative times of an instruction are counted in; `null` where it has none. */
export function relativeUnit(instruction: string): Unit | null {
  const items = parseInstruction(instruction);
  // Nobody has looked: it may well have some.
  return items === null ? 'day' : relativeUnitOf(items, instruction);
}

/** The same for what has been read already. */
export function relativeUnitOf(items: readonly InstructionItem[], source: string): Unit | null {
  const units = new Set<Unit>();
  items.forEach((item, index) => {
    if (item.kind === 'word' || item.kind === 'mark') {
      const unit = item.kind === 'word' ? lengthOfTime(item.text, index) : null;
      if (unit !== null) units.add(unit);
      return;
    }
    for (const value of item.kind === 'span' ? item.items : [item]) {
      if (slotOf(value, source).relative) units.add(unitOf(value));
    }
  });
  return UNITS.find((unit) => units.has(unit)) ?? null;

  /** The unit of "last 30 days", "30 days ago", "in 3 months"; `null` for any other word. */
  function lengthOfTime(word: string, index: number): Unit | null {
    const [, name] = /^(day|week|month|quarter|year)s?$/i.exec(word) ?? [];
    const before = items[index - 1];
    if (name === undefined || before?.kind !== 'number') return null;
    const around = [items[index - 2], items[index + 1]];
    const isRelative = around.some(
      (item) => item?.kind === 'word' && /^(?:last|past|previous|next|coming|ago|from)$/i.test(item.text),
    );
    return isRelative ? (name.toLowerCase() as Unit) : null;
  }
}

function unitOf(item: ValueItem): Unit {
  if (item.kind !== 'relative') return 'year';
  const unit = item.unit.replace(/^fiscal /, '');
  return UNITS.find((one) => one === unit) ?? 'day';
}

/** The unit of the calendar (UTC) that a moment lies in: `2026-11-22`, `2026-W47`, `2026-11`, `2026-Q4`, `2026`. */
export function anchorAt(unit: Unit, now: number): string {
  const day = isoDay(now);
  if (unit === 'day') return day;
  if (unit === 'week') return isoWeek(now);
  if (unit === 'month') return day.slice(0, -3);
  if (unit === 'quarter') return quarterOf(now);
  return day.slice(0, -6);
}
