/** Where a session's data lies, so that another process can go on with it (draft-benzing-accp-00, section 5.1, tier 3). */

export { StoreError, type StoreReason } from '../../text/store-error.js';

/** One change to an endpoint's data. */
export interface Change {
  readonly collection: string;
  readonly key: string;
  /** As text, see `text.ts`; `null` removes the entry. */
  readonly value: string | null;
}

/** A value of the cold tier, which is never kept in memory. */
export interface ColdEntry {
  /** As text, see `text.ts`. It may be a getter that writes the value when it is first asked for. */
  readonly value: string;
  /** About how many characters it is, where it may not be written yet. */
  readonly size?: number | undefined;
  /** Seconds since 1970, or `null` for never; {@link DELETED} for what was deleted, as the store cannot forget. */
  readonly expires: number | null;
}

/** Marks what was deleted: nothing has expired so long ago. */
export const DELETED = 0;

export interface ColdChange extends ColdEntry {
  readonly key: string;
}

/**
 * The one interface of storage. Its calls return when the data is safe against the end of the process: `encode` returns
 * a frame only after its number, its identifier and its effects on state are kept. That is why they are synchronous.
 *
 * A session has one cold tier, which its endpoints in this store share; all else belongs to one endpoint.
 */
export interface SessionStore {
  /** Whether the data outlives the process. Where not, nothing is written before the session is closed. */
  readonly durable: boolean;
  /**
   * Takes over the data of one endpoint of a session: `agent` in session `session`. Whoever held it before is locked
   * out: its next commit fails, so that two processes never both number the frames of one endpoint.
   */
  readonly claim: (session: string, agent: string) => EndpointStore;
  /** Whether the store has data of any endpoint of a session. */
  readonly knows: (session: string) => boolean;
  readonly close: () => void;
}

export interface EndpointStore {
  /** All entries of the endpoint, as changes with a value; empty when it is new. */
  readonly entries: () => Iterable<Change>;
  /**
   * Applies all of the changes or none; safe when it returns.
   *
   * @throws StoreError with reason `taken` when another holder has claimed the endpoint meanwhile
   */
  readonly commit: (changes: readonly Change[], cold?: readonly ColdChange[]) => void;
  /**
   * Fails like a commit of nothing, at no cost. For stores that are not durable, where most commits have nothing to write.
   *
   * @throws StoreError with reason `taken` or `closed`
   */
  readonly check?: (() => void) | undefined;
  /**
   * Takes a key of the session's cold tier for this endpoint, in one step, so that no two endpoints give it to two values. What
   * is kept until the value comes reads as deleted. Without it, two processes that look at once may take the same key.
   *
   * @returns whether the key was free, or was taken for this endpoint and has no value yet: whoever took it has died before its commit
   */
  readonly reserveCold?: ((key: string) => boolean) | undefined;
  /** A value of the session's own cold tier. */
  readonly readCold: (key: string) => ColdEntry | undefined;
  /** A value of another session's cold tier. The caller has to see to the permission. */
  readonly readColdOf: (session: string, key: string) => ColdEntry | undefined;
  /** The sessions of this store whose cold tier has an entry of that key which was not deleted. */
  readonly sessionsWithCold: (key: string) => readonly string[];
  /** Gives the endpoint back. */
  readonly release: () => void;
}
