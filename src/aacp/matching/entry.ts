/** An instruction that was encoded before, with its packet. Public as `RegistryEntry`. */

/** What an entry answers: the same text for another agent is another entry. */
export interface RegistryRequest {
  /** The normalised instruction, with the date that its relative times refer to. */
  readonly normalised: string;
  readonly domain: string;
  readonly returnAgent: string;
  readonly priority: string;
  /** The version of the protocol: `1.1`. */
  readonly version: string;
}

/** An entry as it is put in. Times are milliseconds since 1970. */
export interface NewEntry extends RegistryRequest {
  /** `keyOf` the request: 64 hexadecimal digits. */
  readonly key: string;
  /** `instructionId` of the normalised instruction: the reference SDK's name for it. */
  readonly id: string;
  readonly instruction: string;
  readonly packet: string;
  readonly origin: 'model' | 'import' | 'host';
  /** The model that wrote it; `null` if there is none, or it is unknown. */
  readonly model: string | null;
  /** Its cost in US dollars; `null` if unknown. */
  readonly cost: number | null;
  /** Words to find it by, most telling first. */
  readonly terms: readonly string[];
  /** When the packet was made, where it comes from elsewhere. @default now */
  readonly createdAt?: number | undefined;
  /**
   * When the instruction was given: what its relative times refer to. A packet with times that the instruction does not state is
   * served on this day (UTC) only. @default `created`
   */
  readonly givenAt?: number | undefined;
  /** How often the instruction came, if counted elsewhere: the larger number is kept. @default once more */
  readonly timesSeen?: number | undefined;
  /** Whether a rule covers it; see `setCovered`. @default as it was; `false` for what is new */
  readonly covered?: boolean | undefined;
}

export interface RegistryEntry extends NewEntry {
  /** When its packet was made. Expiry is counted from here. */
  readonly createdAt: number;
  readonly lastSeenAt: number;
  /** How often the instruction came, the first time included (section 6.3). */
  readonly timesSeen: number;
}
