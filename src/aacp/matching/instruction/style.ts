/** One way to write a value. */
import type { Slot } from './slots.js';

export interface Style {
  readonly name: string;
  /** @returns `null` for a value that cannot be written so */
  readonly write: (slot: Slot) => string | null;
  /** What it writes of an amount: digits and currency stand apart. */
  readonly part?: 'currency' | undefined;
}

/** The values of the places in a pattern; `null` where the slot has none. */
export type PartsOf = (slot: Slot) => Readonly<Record<string, string>> | null;

/** A style from a pattern such as `{year}-{mm}`. It writes nothing where a place has no value. */
export function pattern(template: string, partsOf: PartsOf): Style {
  // By turns what stands there as it is, and the name of a place.
  const pieces = template.split(/\{(\w+)\}/);
  return {
    name: template,
    write(slot) {
      const parts = partsOf(slot);
      if (parts === null) return null;
      let filled = pieces[0]!;
      for (let at = 1; at < pieces.length; at += 2) {
        const part = parts[pieces[at]!];
        if (part === undefined) return null;
        filled += part + pieces[at + 1]!;
      }
      return filled;
    },
  };
}

/** The parts of a slot, worked out once for the many patterns that write it one after the other. Slots never change. */
export function remembered(partsOf: PartsOf): PartsOf {
  let last: Slot | undefined;
  let parts: ReturnType<PartsOf> = null;
  return (slot) => {
    if (slot !== last) {
      parts = partsOf(slot);
      last = slot;
    }
    return parts;
  };
}

/** Places with each of the joints between them. */
export function joined(places: readonly string[], joints: readonly string[]): readonly string[] {
  return joints.map((joint) => places.join(joint));
}
