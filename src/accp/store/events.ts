/** The debug log (draft-benzing-accp-00, section 9, item 1): every step of a session as an event. */

export interface SessionEvent {
  /** `sent`, `received`, `rejected`, `dropped`, `resync`, `checkpoint`, `timeout`, `moved`, `inline`, ... */
  readonly type: string;
  readonly session: string;
  readonly agent: string;
  /** The time of the event by the codec's clock, in milliseconds since 1970. */
  readonly occurredAt: number;
  readonly frame?: string;
  readonly message: string;
  /** Its shape depends on the type. */
  readonly details?: Readonly<Record<string, unknown>>;
}

/** Receives every event synchronously. Errors thrown are ignored. */
export type EventListener = (event: SessionEvent) => void;

/** Session, agent and time are added. */
export type Note = (
  type: string,
  message: string,
  more?: { frame?: string; details?: Record<string, unknown> },
) => void;
