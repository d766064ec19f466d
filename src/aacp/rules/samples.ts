/** Values that stand in for those of an instruction, to see what a rule makes of them. */
import type { Slots } from './inputs.js';
import type { SlotKind, TemplateSlot } from './slots.js';

const SAMPLES: Readonly<Record<Exclude<SlotKind, 'amount'>, string>> = {
  period: '2026-05',
  quarter: '2026-Q2',
  date: '2026-05-29',
  id: 'X-1024',
  name: 'Northwind',
  email: 'a.reader@example.org',
  list: 'first,second',
  number: '30',
  text: 'sample',
};

const AMOUNT = { value: '1250.5', currency: 'GBP' } as const;

/** The value by which a rule is tried, for a slot. */
export function sampleFor(slots: Slots, { name, part }: TemplateSlot): string {
  const kind = slots.get(name) ?? 'text';
  return kind === 'amount' ? AMOUNT[part ?? 'value'] : SAMPLES[kind];
}
