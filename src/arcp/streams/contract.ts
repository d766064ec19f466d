/** Streams as those who write them see them. */
import type { StreamKind } from '../protocol/payloads/stream.js';
import type { Content } from './content.js';

export interface StreamOptions<K extends StreamKind = StreamKind> {
  readonly kind: K;
  /** What it is called, for a reader who looks for it. */
  readonly name?: string | undefined;
  readonly contentType?: string | undefined;
  /** Bytes that are expected in all. */
  readonly expectedBytes?: number | undefined;
}

/** What is written to. */
export interface StreamWriter<K extends StreamKind = StreamKind> {
  readonly id: string;
  readonly kind: K;
  /**
   * Writes something. Resolves when it is kept, and the reader can take more: whoever waits for it goes as fast as the reader. What is written
   * faster is joined into larger chunks, where the kind allows it. Where its reader has cancelled the stream, it goes nowhere.
   *
   * @throws ArcpError `INVALID_ARGUMENT` on what the kind does not carry, `FAILED_PRECONDITION` after its end
   */
  readonly write: (content: Content<K>) => Promise<void>;
  /** Nothing more is written. What was is sent before. */
  readonly close: (reason?: string) => Promise<void>;
  /** It has failed. */
  readonly fail: (error: unknown) => Promise<void>;
}
