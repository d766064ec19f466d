/** How work asks for what is not everybody's to do, and what it is given. */

/** What a permission is for (spec 003, "Permissions": "scoped to a specific lease, resource, operation, and expiration time"). */
export interface Scope {
  /** Names joined by dots: `filesystem.write`. */
  readonly permission: string;
  /** On what: `order:ord_4812`. One that ends with `*` stands for all that begin alike. */
  readonly resource?: string | undefined;
  readonly operation?: string | undefined;
}

export interface PermissionWish extends Scope {
  /** Why, for whoever is asked. */
  readonly reason?: string | undefined;
  /** For how long. @default 300 */
  readonly leaseSeconds?: number | undefined;
  /** How bad it is when it goes wrong, for whoever is asked: `low`, `high`, ... */
  readonly risk?: string | undefined;
  /** What is going to be done, for whoever is asked. */
  readonly preview?: unknown;
  /** Tells it from another one of the same scope in the same job, which is asked for once more. */
  readonly key?: string | undefined;
}

/** Something that may be done, within its bounds. */
export interface Lease extends Scope {
  readonly leaseId: string;
  /** Milliseconds since 1970. */
  readonly expiresAt: number;
  readonly constraints: Readonly<Record<string, unknown>> | undefined;
  /**
   * Says that it is used now: to be called right before what is allowed is done, each time.
   *
   * @param wanted what is done, where that is less than what was granted. @default all of it
   * @throws ArcpError `LEASE_EXPIRED`, or `PERMISSION_DENIED` for what it does not cover, and when it was used as often as it may be
   */
  readonly use: (wanted?: Partial<Omit<Scope, 'permission'>>) => Promise<void>;
}
