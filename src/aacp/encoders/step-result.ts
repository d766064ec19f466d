/** A result whose losses, tokens and findings are worked out when they are first read. */
import type { Span } from '../../text/span.js';
import type { TokenCounter } from '../../tokens/counter.js';
import { installedCounter } from '../../tokens/installed-counter.js';
import { isPeriod, lintPacket, periodForm } from '../lint/lint.js';
import { type PacketDiagnostic, validatePacket } from '../validate.js';
import { lossesOf, type Run, writeField, writeItem } from './losses.js';
import { normalised } from './normalise.js';
import type { FieldPlan, Slot } from './plan.js';
import type { EncodeLoss, InputDiagnostic, PacketTokens, ReferencedData, StepResult } from './result.js';

/** What is worked out later, and from what. */
interface Later {
  readonly counter: TokenCounter | undefined;
  readonly run: Run;
  losses: readonly EncodeLoss[] | null;
  tokens: PacketTokens | null;
  diagnostics: readonly PacketDiagnostic[] | null;
  lint: readonly InputDiagnostic[] | null;
}

/** A class, since an object with getters of its own takes longer to make than all of the packet. */
export class EncodedStep implements StepResult {
  readonly packet: string;
  readonly task: string;
  readonly domain: string;
  readonly referenced: ReferencedData | null;
  readonly cost = 0;
  readonly step: string;
  readonly #later: Later;

  /** @param run what losses and findings are told from */
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
    // One private member: each takes its time.
    this.#later = { counter, run, losses: null, tokens: null, diagnostics: null, lint: null };
  }

  get losses(): readonly EncodeLoss[] {
    const later = this.#later;
    later.losses ??= later.run.lossless ? [] : lossesOf(later.run);
    return later.losses;
  }

  get tokens(): PacketTokens {
    const later = this.#later;
    if (later.tokens === null) {
      const { count, exact, encoding } = later.counter ?? installedCounter();
      later.tokens = { packet: count(this.packet), exact, encoding };
    }
    return later.tokens;
  }

  get diagnostics(): readonly PacketDiagnostic[] {
    const later = this.#later;
    if (later.diagnostics === null) {
      const { errors, warnings } = validatePacket(this.packet);
      later.diagnostics = [...errors, ...warnings];
    }
    return later.diagnostics;
  }

  get lint(): readonly InputDiagnostic[] {
    const later = this.#later;
    later.lint ??= lintRun(this.packet, later.run);
    return later.lint;
  }

  toJSON(): StepResult {
    const { packet, task, domain, tokens, losses, diagnostics, lint, referenced, cost, step } = this;
    return { packet, task, domain, tokens, losses, diagnostics, lint, referenced, cost, step };
  }
}

/** In the order of the packet; then periods that are no field of their own. */
function lintRun(packet: string, run: Run): readonly InputDiagnostic[] {
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

/** What stands for an input at one place of a packet. */
interface InputPlace extends Span {
  readonly slot: Slot;
  /** Where the items of a list start; of any other input, where it starts. */
  readonly items: readonly number[];
}

/** In the order of the packet, where none is empty and no two overlap. */
function placesOf(packet: string, run: Run): readonly InputPlace[] {
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
