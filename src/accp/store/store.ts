/** The interface of stores of sessions (draft-benzing-accp-00, section 5.1, tier 3). */

export { StoreError, type StoreReason } from '../../text/store-error.js';

/** A change of one entry of an endpoint. */
export interface Change {
  /** The name of the collection. */
  readonly collection: string;
  /** The key in the collection. */
  readonly key: string;
  /** The new value as text; `null` removes the entry. */
  readonly value: string | null;
}

/** A value of the cold tier. */
export interface ColdEntry {
  /** The value as text. It may be a getter that computes the value when first read. */
  readonly value: string;
  /** The estimated length of the value in characters; absent if the value is computed. */
  readonly size?: number | undefined;
  /** The time of expiry in milliseconds since 1970; `null` for never, 0 for deleted entries. */
  readonly expiresAt: number | null;
}

/** The time of expiry that marks deleted entries, before any other. */
export const DELETED = 0;

/** A change of one value of the cold tier. */
export interface ColdChange extends ColdEntry {
  /** The key in the cold tier. */
  readonly key: string;
}

/**
 * A store of sessions. Calls return when the data survives the end of the process, and thus are synchronous: `encode` returns a frame only
 * after its number, its identifier and its effects on state are stored.
 *
 * The endpoints of a session in one store share the cold tier; all other data belongs to one endpoint.
 *
 * Source: draft-benzing-accp-00, section 5.1.
 */
export interface SessionStore {
  /** `true` if the data outlives the process; if `false`, nothing is written before the session is closed. */
  readonly durable: boolean;
  /**
   * Claims the data of one endpoint: `agent` in `session`. The next commit of a previous owner fails, so that two processes never number the
   * frames of one endpoint.
   *
   * @throws StoreError if the store is closed or fails
   */
  readonly claim: (session: string, agent: string) => EndpointStore;
  /**
   * Returns `true` if the store has data of any endpoint of a session.
   *
   * @throws StoreError if the store is closed or fails
   */
  readonly has: (session: string) => boolean;
  /** Closes the store. Later calls throw StoreError `closed`. */
  readonly close: () => void;
}

/** The data of one claimed endpoint. All methods throw StoreError if the store fails. */
export interface EndpointStore {
  /** Returns all entries of the endpoint, in the order in which their keys were first set; a new endpoint has none. */
  readonly entries: () => Iterable<Change>;
  /**
   * Applies all changes or none. When it returns, they are stored.
   *
   * @throws StoreError `taken` if another owner has claimed the endpoint
   */
  readonly commit: (changes: readonly Change[], cold?: readonly ColdChange[]) => void;
  /**
   * Fails like an empty commit, but at no cost; for stores that are not durable.
   *
   * @throws StoreError `taken` if another owner has claimed the endpoint, `closed` if the endpoint or the store is closed
   */
  readonly check?: (() => void) | undefined;
  /**
   * Reserves a key of the cold tier of the session atomically for this endpoint, so that no two endpoints use it for different values. Until
   * the value is set, it is read as deleted. If the method is absent, two processes may choose the same key.
   *
   * @returns `true` if the key was free, or reserved for this endpoint by a process that ended before its commit
   */
  readonly reserveCold?: ((key: string) => boolean) | undefined;
  /** Returns a value of the cold tier of the session; `undefined` if the key is unknown. */
  readonly readCold: (key: string) => ColdEntry | undefined;
  /** Returns a value of the cold tier of another session. The caller checks the permission. */
  readonly readColdOf: (session: string, key: string) => ColdEntry | undefined;
  /** Returns the sessions of this store whose cold tier has the key, and has not deleted it. */
  readonly sessionsWithCold: (key: string) => readonly string[];
  /** Releases the endpoint. Later calls throw StoreError `closed`. */
  readonly release: () => void;
}
