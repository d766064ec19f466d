/** An instruction that was encoded before, with its packet. Public as `RegistryEntry`. */

/** What a model's answer is kept for: the same text for another agent is another entry. */
export interface RegistryRequest {
  /** The normalised instruction, with what its relative dates referred to where it has any. */
  readonly normalised: string;
  readonly domain: string;
  readonly returnAgent: string;
  readonly priority: string;
  /** The version of the protocol: `1.1`. */
  readonly version: string;
}

/** An entry as it is put in. Times are milliseconds since 1970. */
export interface NewEntry extends RegistryRequest {
  /** SHA-256 of the request, 64 hexadecimal digits: `keyOf`. */
  readonly key: string;
  /** The first 12 digits of the SHA-256 of the normalised instruction alone: how the reference SDK names it. */
  readonly id: string;
  /** The instruction as it was given. */
  readonly instruction: string;
  /** A valid packet. */
  readonly packet: string;
  /** Where it comes from. */
  readonly origin: 'model' | 'import' | 'host';
  /** The model that wrote it; `null` where none did, or it is not known. */
  readonly model: string | null;
  /** What it cost in US dollars; `null` where that is not known. */
  readonly cost: number | null;
  /** Words to find it by, most telling first; see `termsOf`. */
  readonly terms: readonly string[];
  /** When the packet was made, where it comes from elsewhere. @default now */
  readonly created?: number | undefined;
  /**
   * When the instruction was given, by the clock of the encoder: what its relative times refer to. A packet that has times which the
   * instruction does not state is served on this day (UTC) only. @default `created`
   */
  readonly said?: number | undefined;
  /**
   * How often the instruction came, where it was counted elsewhere: an entry that is there keeps the larger number. Without, it
   * came once more.
   */
  readonly timesSeen?: number | undefined;
  /** Whether a rule covers it; see `setCovered`. @default as it was; `false` for what is new */
  readonly covered?: boolean | undefined;
}

export interface RegistryEntry extends NewEntry {
  /** When its packet was made. What expires is counted from here. */
  readonly created: number;
  readonly lastSeen: number;
  /** How often the instruction came, the first time included (section 6.3). */
  readonly timesSeen: number;
}
