/** The events of the debug log (draft-benzing-accp-00, section 9, item 1). */

/** An event of the debug log: one step of a session. */
export interface SessionEvent {
  /**
   * The type: `sent`, `received`, `rejected`, `dropped`, `resync`, `checkpoint`, `timeout`, `moved`, `inline`, `warning`,
   * `stream-started`, ...
   */
  readonly type: string;
  /** The identifier of the session. */
  readonly session: string;
  /** The name of the endpoint. */
  readonly agent: string;
  /** The time of the event by the codec's clock, in milliseconds since 1970. */
  readonly occurredAt: number;
  /** The text of the frame; absent if the event concerns no frame. */
  readonly frame?: string;
  /** One sentence that describes the event. */
  readonly message: string;
  /** Further data, whose shape depends on the type. */
  readonly details?: Readonly<Record<string, unknown>>;
}

/** A function that receives every event synchronously. Its errors are ignored. */
export type EventListener = (event: SessionEvent) => void;

/** A function that logs an event; session, agent and time are added. */
export type EmitEvent = (
  type: string,
  message: string,
  more?: { frame?: string; details?: Record<string, unknown> },
) => void;
