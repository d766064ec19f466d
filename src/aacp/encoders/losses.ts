/** What of the inputs is not on the wire as it was given. */
import { POINTER } from './emission-order.js';
import { normalised } from './normalise.js';
import { plainDigits } from './number-text.js';
import type { FieldPlan, Program, Slot } from './plan.js';
import type { Reader } from './read-value.js';
import type { EncodeLoss, ReferencedData } from './result.js';
import { type Filled, writeField, writeItem } from './write-field.js';

/** What one run has come to. */
export interface Run extends Filled, Reader {
  readonly program: Program;
  /** All that was given is written, letter by letter. */
  readonly lossless: boolean;
  readonly referenced: ReferencedData | null;
  /** Inputs that nobody knows, with what was given for them. */
  readonly unknown: readonly (readonly [name: string, text: string])[];
}

/** In the order of the fields; then what is in none of them. */
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

/** Notes the inputs of a field as written, and how they are spelt in it. */
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
  const key = POINTER;
  if (run.referenced === null) {
    losses.push({ input: name, key, kind: 'known-to-receiver', from: givenText(index, run), to: null });
    return;
  }
  losses.push(...changesOf(index, run, key), {
    input: name,
    key,
    kind: 'referenced',
    from,
    to: run.referenced.pointer,
  });
}

/** What the reference SDK leaves out, by design or by oversight. */
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

/** From texts, where values could have changed since. */
function givenText(slot: number, { values, texts }: Run): string {
  const value = values[slot];
  if (typeof value === 'number' && Number.isFinite(value)) return plainDigits(value);
  return typeof value === 'string' ? value : (texts[slot] ?? '');
}
