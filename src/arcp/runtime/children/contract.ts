/** How work has other work done. */

export interface CallOptions {
  /** Names the call within the job, so that its result is kept, and given again to the next attempt. @default it is made again */
  readonly key?: string | undefined;
}

export interface ChildOptions {
  /**
   * Names it within the job: asked for again, in this attempt or the next, it is the same child. @default what is asked for:
   * the same task is given once
   */
  readonly key?: string | undefined;
  /** Permissions that it is given of those which the job has: never more, and none that are for a number of uses. @default none */
  readonly permissions?: readonly string[] | undefined;
  /** Milliseconds for it. */
  readonly timeoutMs?: number | undefined;
}

export interface DelegateOptions extends ChildOptions {
  readonly arguments?: Readonly<Record<string, unknown>> | undefined;
  /** What its `shared` values are where the shared context has none of that name. Only the agent itself sees them, until it sets them. */
  readonly values?: Readonly<Record<string, unknown>> | undefined;
  /** The context that it shares. @default that of the job */
  readonly contextId?: string | undefined;
}

/** Work that was given to somebody. It goes on whether its outcome is waited for or not, and ends with the job when that is cancelled. */
export interface ChildJob<R = unknown> {
  /** `undefined` where the job is a direct call: so is this one then. */
  readonly jobId: string | undefined;
  /**
   * Waits for its end. Meanwhile others may be worked on in the place of the job.
   *
   * @throws ArcpError what it failed with
   */
  readonly result: () => Promise<R>;
}

export interface HandoffOptions {
  readonly reason?: string | undefined;
  /** Permissions that the job keeps of those which it has. @default none */
  readonly permissions?: readonly string[] | undefined;
}

/** Who had the work before, as whoever takes it over is told. */
export interface HandedOver {
  readonly from: string;
  readonly reason?: string | undefined;
}
