/** Storage of sessions (draft-benzing-accp-00, section 5.1, tier 3). */

export { StoreError, type StoreReason } from '../../text/store-error.js';

export interface Change {
  readonly collection: string;
  readonly key: string;
  /** As text, see `text.ts`; `null` removes the entry. */
  readonly value: string | null;
}

/** A value of the cold tier. */
export interface ColdEntry {
  /** As text, see `text.ts`. May be a getter that computes the value when first read. */
  readonly value: string;
  /** Estimated characters, if the value may not be computed yet. */
  readonly size?: number | undefined;
  /** Milliseconds since 1970, or `null` for never; {@link DELETED} for deleted entries. */
  readonly expiresAt: number | null;
}

/** Marks deleted entries: earlier than any expiry. */
export const DELETED = 0;

export interface ColdChange extends ColdEntry {
  readonly key: string;
}

/**
 * The interface of storage. Calls return when the data survives the end of the process, and so are synchronous: `encode` returns a frame
 * only after its number, its identifier and its effects on state are stored.
 *
 * The endpoints of a session in one store share its cold tier; all other data belongs to one endpoint.
 */
export interface SessionStore {
  /** Whether the data outlives the process. If not, nothing is written before the session is closed. */
  readonly durable: boolean;
  /**
   * Takes over the data of one endpoint: `agent` in `session`. The next commit of a previous holder fails, so that two processes never
   * number the frames of one endpoint.
   */
  readonly claim: (session: string, agent: string) => EndpointStore;
  /** Whether the store has data of any endpoint of a session. */
  readonly has: (session: string) => boolean;
  readonly close: () => void;
}

export interface EndpointStore {
  /** All entries of the endpoint; empty for a new one. */
  readonly entries: () => Iterable<Change>;
  /** Applies all changes or none; they are safe when it returns. Throws StoreError `taken` if another holder has claimed the endpoint. */
  readonly commit: (changes: readonly Change[], cold?: readonly ColdChange[]) => void;
  /** Fails like an empty commit, at no cost, for stores that are not durable. Throws StoreError `taken` or `closed`. */
  readonly check?: (() => void) | undefined;
  /**
   * Reserves a key of the session's cold tier for this endpoint atomically, so that no two endpoints use it for two values. Until the
   * value is set, it reads as deleted. Without it, two processes may take the same key at once.
   *
   * @returns whether the key was free, or reserved for this endpoint by a process that ended before its commit
   */
  readonly reserveCold?: ((key: string) => boolean) | undefined;
  /** Reads the session's own cold tier. */
  readonly readCold: (key: string) => ColdEntry | undefined;
  /** Reads another session's cold tier. The caller checks the permission. */
  readonly readColdOf: (session: string, key: string) => ColdEntry | undefined;
  /** Lists the sessions of this store with an undeleted cold entry of that key. */
  readonly sessionsWithCold: (key: string) => readonly string[];
  /** Gives the endpoint back. */
  readonly release: () => void;
}
