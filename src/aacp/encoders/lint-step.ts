/** What there is to say about the inputs of a packet (draft-mackay-aacp-01, section 15). */
import { isPeriod } from '../lint/forms.js';
import { lintPacket, periodForm } from '../lint/lint.js';
import type { Run } from './losses.js';
import { inputAt, placesOf } from './places.js';
import type { InputDiagnostic } from './result.js';

/** In the order of the packet; then periods that are no field of their own. */
export function lintRun(packet: string, run: Run): readonly InputDiagnostic[] {
  const diagnostics = lintPacket(packet);
  const places = diagnostics.length === 0 ? [] : placesOf(packet, run);
  const found = diagnostics.map((diagnostic) => ({ ...diagnostic, input: inputAt(diagnostic.span, places) }));
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
