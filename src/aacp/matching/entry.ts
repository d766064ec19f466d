/** The entries of a registry. */

/** The request that an entry answers. The same instruction for another agent is another entry. */
export interface RegistryRequest {
  /** The normalised instruction, with the date to which its relative times refer. */
  readonly normalised: string;
  /** The DOM of the packet. */
  readonly domain: string;
  /** The agent that receives the result. */
  readonly returnAgent: string;
  /** The priority: `1`, `2` or `3`. */
  readonly priority: string;
  /** The version of the protocol: `1.1`. */
  readonly version: string;
}

/** A new entry. Times are milliseconds since 1970. */
export interface NewEntry extends RegistryRequest {
  /** The result of `registryKey` for the request: 64 hexadecimal digits. */
  readonly key: string;
  /** The result of `instructionId` for the normalised instruction: the id that the reference SDK uses. */
  readonly id: string;
  /** The instruction as it was given. */
  readonly instruction: string;
  /** The text of its packet. */
  readonly packet: string;
  /** The source of the packet: a model, a file of the reference SDK, or the application. */
  readonly origin: 'model' | 'import' | 'host';
  /** The model that wrote the packet; `null` if there is none, or it is unknown. */
  readonly model: string | null;
  /** The cost of the packet in US dollars; `null` if unknown. */
  readonly cost: number | null;
  /** The words by which the entry is found, the most specific first. */
  readonly terms: readonly string[];
  /** The time at which the packet was made. @default now */
  readonly createdAt?: number | undefined;
  /**
   * The time at which the instruction was given, to which its relative times refer. A packet with times that the instruction does not state
   * is used on this day (UTC) only. @default `createdAt`
   */
  readonly givenAt?: number | undefined;
  /** The number of times that the instruction was given, if it was counted elsewhere. The larger number is kept. @default one more than before */
  readonly timesSeen?: number | undefined;
  /** If true, a rule covers the entry; see `Registry.setCovered`. @default the value of the entry that is replaced, or false */
  readonly covered?: boolean | undefined;
}

/** An entry of a registry. Times are milliseconds since 1970. */
export interface RegistryEntry extends NewEntry {
  /** The time at which the packet was made. The time to live begins here. */
  readonly createdAt: number;
  /** The time at which the instruction was last given. */
  readonly lastSeenAt: number;
  /** The number of times that the instruction was given, including the first (section 6.3). */
  readonly timesSeen: number;
}
