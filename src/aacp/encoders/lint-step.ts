/** What there is to say about the inputs of a packet (draft-mackay-aacp-01, section 15). */
import type { Span } from '../../text/span.js';
import { isPeriod } from '../lint/forms.js';
import { lintPacket, periodForm } from '../lint/lint.js';
import type { Run } from './losses.js';
import { normalised } from './normalise.js';
import type { FieldPlan, Slot } from './plan.js';
import type { InputDiagnostic } from './result.js';
import { writeField, writeItem } from './write-field.js';

/** In the order of the packet; then periods that are no field of their own. */
export function lintRun(packet: string, run: Run): readonly InputDiagnostic[] {
  const found = lintPacket(packet).map((diagnostic) => ({
    ...diagnostic,
    input: inputAt(diagnostic.span, packet, run),
  }));
  return [...found, ...otherPeriods(run, found)];
}

/** A period can stand in an address or a subject, where it is told by its input only. */
function otherPeriods({ program, texts }: Run, found: readonly InputDiagnostic[]): readonly InputDiagnostic[] {
  return program.slots.flatMap(({ name, index, definition }) => {
    const text = texts[index] ?? null;
    if (definition.period !== true || text === null || text === '' || isPeriod(text)) return [];
    if (found.some(({ code, input }) => code === 'period-form' && input === name)) return [];
    return [{ ...periodForm(`The input "${name}" does not look like a period.`, null), input: name }];
  });
}

/** The input that a part of the packet comes from; `null` for what the workflow, or the option `pointer`, wrote. */
function inputAt(span: Span | null, packet: string, run: Run): string | null {
  if (span === null) return null;
  for (const field of run.program.fields) {
    const text = writeField(field, run);
    // No value holds a "|", and no key stands twice.
    const at = text === null ? -1 : packet.indexOf(field.start);
    const start = at + field.start.length;
    if (at >= 0 && span.start >= start && span.start < start + text!.length) {
      return inputIn(field, { start: span.start - start, end: span.end - start }, run);
    }
  }
  return null;
}

/** The input, or the item of it, that has most of that part of a field. */
function inputIn({ items }: FieldPlan, span: Span, run: Run): string | null {
  let at = 0;
  let most = 0;
  let name: string | null = null;
  for (const item of items) {
    if (writeItem(item, run) === null) continue;
    for (const piece of item.pieces) {
      const isText = typeof piece === 'string';
      const text = isText ? piece : piece.normalise.reduce(normalised, run.texts[piece.slot] ?? '');
      const shared = Math.min(at + text.length, span.end) - Math.max(at, span.start);
      if (!isText && shared > most) {
        most = shared;
        name = nameOf(run.program.slots[piece.slot]!, text.slice(0, Math.max(0, span.start - at)));
      }
      at += text.length;
    }
    // The comma.
    at += 1;
  }
  return name;
}

/** `fields[1]` for a part of a list. */
function nameOf({ name, list }: Slot, before: string): string {
  return list ? `${name}[${before.split(',').length - 1}]` : name;
}
