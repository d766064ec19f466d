/** A channel between two endpoints that loses, repeats, reorders and corrupts frames as a test requires. */

/** A frame in transit. */
export interface InFlight {
  readonly text: string;
}

/** Ways to corrupt a frame so that the result is not a valid frame. */
export const SPOILS = {
  cut: (text: string, at: number): string => text.slice(0, at % text.length),
  blank: (text: string, at: number): string => replaced(text, at, ' '),
  control: (text: string, at: number): string => replaced(text, at, '\u0007'),
  insert: (text: string, at: number): string => {
    const place = at % (text.length + 1);
    return `${text.slice(0, place)}\u00e9${text.slice(place)}`;
  },
  double: (text: string): string => text + text,
} as const satisfies Readonly<Record<string, (text: string, at: number) => string>>;

export type Spoil = keyof typeof SPOILS;

function replaced(text: string, at: number, character: string): string {
  const place = at % text.length;
  return text.slice(0, place) + character + text.slice(place + 1);
}

/** One direction, with frames in the order of delivery. Positions are modulo the number of frames. */
export class FaultyChannel {
  readonly #frames: InFlight[] = [];

  get length(): number {
    return this.#frames.length;
  }

  put(texts: readonly string[]): void {
    for (const text of texts) this.#frames.push({ text });
  }

  take(): string | undefined {
    return this.#frames.shift()?.text;
  }

  drop(place: number): void {
    this.#frames.splice(this.#at(place), 1);
  }

  /** Appends a copy of a frame. */
  repeat(place: number): void {
    this.#frames.push(this.#frames[this.#at(place)]!);
  }

  /** Moves a frame to another position. */
  move(from: number, to: number): void {
    const [frame] = this.#frames.splice(this.#at(from), 1);
    this.#frames.splice(to % (this.#frames.length + 1), 0, frame!);
  }

  spoil(place: number, how: Spoil, at: number): void {
    const index = this.#at(place);
    this.#frames[index] = { text: SPOILS[how](this.#frames[index]!.text, at) };
  }

  #at(place: number): number {
    return place % this.#frames.length;
  }
}
