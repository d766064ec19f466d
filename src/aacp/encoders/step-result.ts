import type { Span } from '../../text/span.js';
import type { TokenCounter } from '../../tokens/counter.js';
import { installedCounter } from '../../tokens/installed-counter.js';
import { isPeriod, lintPacket, periodForm } from '../lint/lint.js';
import { type PacketDiagnostic, validatePacket } from '../validate.js';
import { lossesOf, type Run, writeField, writeItem } from './losses.js';
import { normalised } from './normalise.js';
import type { FieldPlan, Slot } from './plan.js';
import type { EncodeLoss, InputDiagnostic, PacketTokens, ReferencedData, StepResult } from './result.js';

interface Deferred {
  readonly counter: TokenCounter | undefined;
  readonly run: Run;
  losses: readonly EncodeLoss[] | null;
  tokens: PacketTokens | null;
  diagnostics: readonly PacketDiagnostic[] | null;
  lint: readonly InputDiagnostic[] | null;
}

/** A result. A class, since an object literal with getters takes longer to create than the whole packet. */
export class EncodedStep implements StepResult {
  readonly packet: string;
  readonly task: string;
  readonly domain: string;
  readonly referenced: ReferencedData | null;
  readonly cost = 0;
  readonly step: string;
  readonly #deferred: Deferred;

  constructor(
    packet: string,
    task: string,
    domain: string,
    referenced: ReferencedData | null,
    step: string,
    counter: TokenCounter | undefined,
    run: Run,
  ) {
    this.packet = packet;
    this.task = task;
    this.domain = domain;
    this.referenced = referenced;
    this.step = step;
    // One private member, since each takes time to initialise.
    this.#deferred = { counter, run, losses: null, tokens: null, diagnostics: null, lint: null };
  }

  get losses(): readonly EncodeLoss[] {
    const deferred = this.#deferred;
    deferred.losses ??= deferred.run.lossless ? [] : lossesOf(deferred.run);
    return deferred.losses;
  }

  get tokens(): PacketTokens {
    const deferred = this.#deferred;
    deferred.tokens ??= tokensOf(this.packet, deferred.counter ?? installedCounter());
    return deferred.tokens;
  }

  get diagnostics(): readonly PacketDiagnostic[] {
    const deferred = this.#deferred;
    if (deferred.diagnostics === null) {
      const { errors, warnings } = validatePacket(this.packet);
      deferred.diagnostics = [...errors, ...warnings];
    }
    return deferred.diagnostics;
  }

  get lint(): readonly InputDiagnostic[] {
    const deferred = this.#deferred;
    deferred.lint ??= lintRun(this.packet, deferred.run);
    return deferred.lint;
  }

  toJSON(): StepResult {
    const { packet, task, domain, tokens, losses, diagnostics, lint, referenced, cost, step } = this;
    return { packet, task, domain, tokens, losses, diagnostics, lint, referenced, cost, step };
  }
}

function tokensOf(packet: string, { count, exact, encoding }: TokenCounter): PacketTokens {
  return { packet: count(packet), exact, encoding };
}

/** Lints a packet. The findings are in the order of the packet, followed by those about periods inside other fields. */
function lintRun(packet: string, run: Run): readonly InputDiagnostic[] {
  const diagnostics = lintPacket(packet);
  const places = diagnostics.length === 0 ? [] : placesOf(packet, run);
  const found = diagnostics.map((diagnostic) => ({ ...diagnostic, input: inputAt(diagnostic.span, places) }));
  return [...found, ...otherPeriods(run, found)];
}

/** Reports periods inside other fields, such as an attachment or a subject, which are recognised by their input only. */
function otherPeriods({ program, texts }: Run, found: readonly InputDiagnostic[]): readonly InputDiagnostic[] {
  return program.slots.flatMap(({ name, index, definition }) => {
    const text = texts[index] ?? null;
    if (definition.period !== true || text === null || text === '' || isPeriod(text)) return [];
    if (found.some(({ code, input }) => code === 'period-form' && input === name)) return [];
    return [{ ...periodForm(`The input "${name}" does not look like a period.`, null), input: name }];
  });
}

interface InputPlace extends Span {
  readonly slot: Slot;
  /** The starts of the list items; for any other input, its start. */
  readonly items: readonly number[];
}

/** Returns the ranges of the inputs in the order of the packet. None is empty, and they do not overlap. */
function placesOf(packet: string, run: Run): readonly InputPlace[] {
  const places: InputPlace[] = [];
  let behind = 0;
  for (const field of run.program.fields) {
    const text = writeField(field, run);
    // Fields are in this order, values contain no "|", and keys are unique.
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
 * Returns the input that covers most of a span, with the index of the list item (`fields[1]`); `null` for text of the workflow or of
 * `pointer`.
 */
function inputAt(span: Span | null, places: readonly InputPlace[]): string | null {
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
  const started = countOf(items, (start) => start <= span.start);
  return `${slot.name}[${Math.max(0, started - 1)}]`;
}

/** Counts the leading elements that match, by binary search, since each item may have a finding. */
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
