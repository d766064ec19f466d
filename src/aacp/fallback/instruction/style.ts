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
  return {
    name: template,
    write(slot) {
      const parts = partsOf(slot);
      if (parts === null) return null;
      let complete = true;
      const filled = template.replace(/\{(\w+)\}/g, (_place, name: string) => {
        complete &&= Object.hasOwn(parts, name);
        return parts[name] ?? '';
      });
      return complete ? filled : null;
    },
  };
}

/** Places with each of the joints between them. */
export function joined(places: readonly string[], joints: readonly string[]): readonly string[] {
  return joints.map((joint) => places.join(joint));
}
