/** Lists losses: inputs that are not written as they were given. */
import { normalised } from './normalise.js';
import type { FieldPlan, ItemPlan, Program, Slot } from './plan.js';
import { plainDigits, type Reader } from './read-value.js';
import type { EncodeLoss, ReferencedData } from './result.js';

const ORDER: ReadonlyMap<string, number> = new Map(
  (
    'return p aacp res period filter fields fmt src src_prev rules validate tmpl data_ptr amt ccy sup match terms type ' +
    'party clause issue risk block flags flags_inherit req highlight status to subj att flag_msg sentiment tone prog ' +
    'actor chain ltv loyalty urgency'
  )
    .split(' ')
    .map((key, at) => [key, at]),
);

export const POINTER = 'data_ptr';

/** Returns the position of a key in a packet. Private keys come last. */
export function rankOf(key: string): number {
  return ORDER.get(key) ?? ORDER.size;
}

export interface Run extends Filled, Reader {
  readonly program: Program;
  /** `true` if everything given is written unchanged. */
  readonly lossless: boolean;
  readonly referenced: ReferencedData | null;
  /** Unknown inputs, with their values. */
  readonly unknown: readonly (readonly [name: string, text: string])[];
}

/** Lists the losses in the order of the fields. Inputs that occur in no field come last. */
export function lossesOf(run: Run): readonly EncodeLoss[] {
  const losses: EncodeLoss[] = [];
  const written = new Set<number>();
  for (const { index, name } of run.program.head) {
    written.add(index);
    losses.push(...changesOf(index, run, name));
  }
  for (const field of run.program.fields) {
    if (writeField(field, run) !== null) addRespellings(field, run, written, losses);
  }
  for (const field of run.program.leftOut) addLeftOut(field, run, written, losses);
  for (const slot of run.program.referenced) addReferenced(slot, run, losses);
  if (run.program.mode === 'compat') addNotEmitted(run, written, losses);
  return losses;
}

function addRespellings(field: FieldPlan, run: Run, written: Set<number>, losses: EncodeLoss[]): void {
  const { key } = field;
  const inField = new Set<number>();
  for (const item of field.items) {
    const text = writeItem(item, run);
    if (text === null) continue;
    if (item.when >= 0) written.add(item.when);
    for (const piece of item.pieces) {
      if (typeof piece === 'string') continue;
      written.add(piece.slot);
      if (!inField.has(piece.slot)) losses.push(...changesOf(piece.slot, run, key));
      inField.add(piece.slot);
      let from = run.texts[piece.slot] ?? '';
      for (const kind of piece.normalise) {
        const to = normalised(from, kind);
        if (to !== from) losses.push({ input: run.program.slots[piece.slot]!.name, key, kind, from, to });
        from = to;
      }
    }
  }
}

function changesOf(slot: number, { changes }: Run, key: string): EncodeLoss[] {
  const own = changes?.filter((change) => change.slot === slot) ?? [];
  return own.map(({ input, kind, from, to }) => ({ input, key, kind, from, to }));
}

function addLeftOut(field: FieldPlan, run: Run, written: ReadonlySet<number>, losses: EncodeLoss[]): void {
  const { key, slots } = field;
  const text = writeField(field, run);
  if (text === null) return;
  const lost = { key, kind: 'known-to-receiver', to: null } as const;
  if (slots.length === 0) losses.push({ ...lost, input: key, from: text });
  for (const at of slots) {
    if (!written.has(at)) losses.push({ ...lost, input: run.program.slots[at]!.name, from: givenText(at, run) });
  }
}

function addReferenced({ index, name }: Slot, run: Run, losses: EncodeLoss[]): void {
  const from = run.texts[index] ?? null;
  if (from === null) return;
  const lost = { input: name, key: POINTER };
  if (run.referenced === null) {
    losses.push({ ...lost, kind: 'known-to-receiver', from: givenText(index, run), to: null });
  } else {
    losses.push(...changesOf(index, run, POINTER), { ...lost, kind: 'referenced', from, to: run.referenced.pointer });
  }
}

/** Adds inputs that the reference SDK omits. */
function addNotEmitted(run: Run, written: ReadonlySet<number>, losses: EncodeLoss[]): void {
  const lost = { key: null, kind: 'not-emitted', to: null } as const;
  const leftOut = new Set(run.program.leftOut.flatMap(({ slots }) => slots));
  for (const { index, name } of run.program.slots) {
    const value = run.values[index];
    if (value === undefined || value === null || value === false || written.has(index) || leftOut.has(index)) continue;
    const from = givenText(index, run);
    if (from !== '') losses.push({ ...lost, input: name, from });
  }
  for (const [name, from] of run.unknown) losses.push({ ...lost, input: name, from });
}

/** Returns the given value as text. Uses the text if the caller may have changed the value since. */
function givenText(slot: number, { values, texts }: Run): string {
  const value = values[slot];
  if (typeof value === 'number' && Number.isFinite(value)) return plainDigits(value);
  return typeof value === 'string' ? value : (texts[slot] ?? '');
}

interface Filled {
  /** The text of each input; `null` if absent. */
  readonly texts: readonly (string | null)[];
  /** The value of each input; `undefined` if not given. */
  readonly values: readonly unknown[];
}

/** Writes the value of a field. Returns `null` if the field is omitted. */
export function writeField(field: FieldPlan, filled: Filled): string | null {
  if (!holds(field.when, filled)) return null;
  let text: string | null = null;
  for (const item of field.items) {
    const written = writeItem(item, filled);
    if (written !== null) text = text === null ? written : `${text},${written}`;
  }
  return field.pure && text === '' ? null : text;
}

export function writeItem({ pieces, when }: ItemPlan, filled: Filled): string | null {
  if (!holds(when, filled)) return null;
  let text = '';
  for (const piece of pieces) {
    if (typeof piece === 'string') {
      text += piece;
      continue;
    }
    const value = filled.texts[piece.slot] ?? null;
    if (value === null) return null;
    text += piece.normalise.reduce(normalised, value);
  }
  return text;
}

/** Returns whether a condition is met: its input is given, and neither `false` nor zero. */
function holds(slot: number, { texts, values }: Filled): boolean {
  if (slot < 0) return true;
  const value = values[slot];
  if (value === undefined) return texts[slot] !== null && texts[slot] !== 'false';
  return texts[slot] !== null && value !== false && value !== 0;
}
