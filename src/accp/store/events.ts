/** The debug log (draft-benzing-accp-00, section 9, item 1): every step of a session as an event. The library prints nothing. */

/** One step, with what it was about. */
export interface SessionEvent {
  /** What happened: `sent`, `received`, `rejected`, `dropped`, `resync`, `checkpoint`, `timeout`, `moved`, `inline`, ... */
  readonly type: string;
  readonly session: string;
  readonly agent: string;
  /** Seconds since 1970, by the codec's clock. */
  readonly at: number;
  /** The frame that it is about, if any. */
  readonly frame?: string;
  /** One sentence for people. */
  readonly message: string;
  /** For programs; its shape depends on the type. */
  readonly details?: Readonly<Record<string, unknown>>;
}

/** Told every event, at once. What it throws is ignored. */
export type EventListener = (event: SessionEvent) => void;

/** Notes an event; session, agent and time are added on the way. */
export type Note = (
  type: string,
  message: string,
  more?: { frame?: string; details?: Record<string, unknown> },
) => void;
