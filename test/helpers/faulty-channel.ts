/** A line between two endpoints on which everything goes wrong that can go wrong, when a test says so. */

/** A frame on its way. */
export interface InFlight {
  readonly text: string;
}

/** Ways of spoiling a frame so that nobody can take it for a frame: no grammar reads the result. */
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

/** One direction: frames in the order in which they will come. Places are taken modulo the number of frames. */
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

  /** A copy comes at the end. */
  repeat(place: number): void {
    this.#frames.push(this.#frames[this.#at(place)]!);
  }

  /** Takes a frame out and puts it in elsewhere. */
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
