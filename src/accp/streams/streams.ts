/** Received streams, whose chunks arrive in any order and are read in their order (draft-benzing-accp-00, section 10.4). */
import { type AccpError, accpError } from '../errors.js';
import type { Json } from '../message/json.js';
import type { EmitEvent } from '../store/events.js';
import type { Journal } from '../store/journal.js';
import {
  charactersOf,
  checkChunk,
  createReader,
  errorOf,
  type Failure,
  firstMissing,
  isComplete,
  newStream,
  type Step,
  type Stream,
  StreamBuffer,
  type StreamChunk,
} from './stream.js';

export type { StreamChunk } from './stream.js';

export interface StreamsOptions {
  readonly journal: Journal;
  readonly now: () => number;
  /** The maximum number of unread chunks of one stream. @default 1024 */
  readonly maxBuffered?: number | undefined;
  /** The maximum number of characters, as JSON, of the unread chunks of all streams. @default 8388608 */
  readonly maxCharacters?: number | undefined;
  /** The maximum number of streams that are not read to their end. @default 64 */
  readonly maxStreams?: number | undefined;
  /** Milliseconds without a chunk after which a stream fails; `Infinity` for never. @default 60000 */
  readonly timeoutMs?: number | undefined;
  /** Commits the journal after a reader has taken a chunk or ended its loop; callers of the methods commit themselves. */
  readonly save?: (() => void) | undefined;
  readonly emit: EmitEvent;
}

/** The received streams, by `correlation_id`. */
export type Streams = ReturnType<typeof createStreams>;

/** Creates the received streams. Throws TypeError if a limit is invalid. */
export function createStreams(options: StreamsOptions) {
  const { now, emit, maxBuffered = 1024, maxCharacters = 8 * 2 ** 20, maxStreams = 64, timeoutMs = 60_000 } = options;
  const save = options.save ?? (() => {});
  checkLimit('maxBuffered', maxBuffered, 1);
  checkLimit('maxCharacters', maxCharacters, 1);
  checkLimit('maxStreams', maxStreams, 1);
  if (!(timeoutMs > 0)) {
    throw new TypeError(`timeoutMs must be a positive number of milliseconds, or Infinity; got ${timeoutMs}`);
  }
  const buffer = new StreamBuffer(options.journal);
  /** A lower bound of all timeouts. Chunks only delay them, so it is recomputed when reached. */
  let nextTimeoutAt = buffer.streams.size > 0 ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY;
  let closed = false;

  function openStream(cid: string): Stream {
    const at = now();
    const stream = newStream(cid, at);
    buffer.streams.set(cid, stream);
    nextTimeoutAt = Math.min(nextTimeoutAt, at + timeoutMs);
    return stream;
  }

  function fail(stream: Stream, failure: Failure): void {
    const gap = firstMissing(stream);
    // Chunks after the gap will never be read.
    for (const index of [...stream.waiting.keys()]) if (index > gap) buffer.remove(stream, index);
    stream.failure = failure;
    buffer.save(stream);
    emit('stream-failed', `The stream ${stream.cid} has failed: ${failure.message}.`, details(stream));
    stream.reader?.wake();
  }

  /** Marks the delivered chunk as read. Returns `true` if there was one. */
  function acknowledge(stream: Stream): boolean {
    if (!stream.isDelivered) return false;
    stream.isDelivered = false;
    buffer.remove(stream, stream.next);
    stream.next++;
    buffer.save(stream);
    return true;
  }

  function take(stream: Stream, requested: boolean): Step | null {
    if (closed) return { kind: 'error', error: closedError() };
    if (acknowledge(stream) && requested) save();
    if (stream.waiting.has(stream.next)) {
      stream.isDelivered = true;
      return { kind: 'chunk', chunk: buffer.deliver(stream, stream.next) };
    }
    if (stream.failure !== null) {
      buffer.end(stream, 'failed');
      if (requested) save();
      // A closed link has cancelled its streams, too.
      return { kind: 'error', error: stream.disconnectError ?? errorOf(stream.failure) };
    }
    if (!isComplete(stream)) {
      const { disconnectError } = stream;
      if (disconnectError === null) return null;
      stream.disconnectError = null;
      stream.reader = null;
      return { kind: 'error', error: disconnectError };
    }
    buffer.end(stream, 'read');
    if (requested) save();
    emit('stream-read', `The stream ${stream.cid} was read to its end.`, details(stream));
    return { kind: 'done' };
  }

  function abandon(stream: Stream): void {
    if (closed) return;
    buffer.end(stream, 'abandoned');
    save();
    emit(
      'stream-abandoned',
      `The reader of the stream ${stream.cid} stopped early; further chunks are dropped.`,
      details(stream),
    );
  }

  /** Removes a failed stream without a reader. Returns `true` if there was one. */
  function discardFailed(): boolean {
    for (const stream of buffer.streams.values()) {
      if (stream.failure === null || stream.reader !== null) continue;
      buffer.end(stream, 'failed');
      emit('stream-discarded', `The failed stream ${stream.cid} was never read.`, details(stream));
      return true;
    }
    return false;
  }

  function makeRoom(): void {
    if (buffer.size < maxStreams || discardFailed()) return;
    throw accpError('E2003', undefined, `there are ${maxStreams} unread streams, the maximum`);
  }

  /** Returns `true` if a chunk has no room, even after failed streams are removed. */
  function isTooLong(data: Json): boolean {
    const characters = charactersOf(data);
    while (buffer.characters + characters > maxCharacters) if (!discardFailed()) return true;
    return false;
  }

  function checkSender({ cid, agent: sender }: Stream, agent: string): void {
    if (sender === null || sender === agent) return;
    throw accpError('E5001', undefined, `the stream ${cid} belongs to @${sender}; got a frame of @${agent}`);
  }

  /** Returns the reason why there is no room for a chunk; `null` if there is room. */
  function fullness(stream: Stream, { index, data }: StreamChunk): Failure | null {
    const { waiting, isDelivered, next, reader } = stream;
    // The chunk that a reader waits for needs no room.
    if (index === next && reader?.isWaiting()) return null;
    const isFull = waiting.size - (isDelivered ? 1 : 0) >= maxBuffered;
    if (!isFull && !isTooLong(data)) return null;
    const message = isFull
      ? `more than ${maxBuffered} chunks of the stream wait for chunk ${firstMissing(stream)} or for the reader`
      : `more than ${maxCharacters} characters of chunks wait for readers`;
    return { code: 'E2003', message, details: {} };
  }

  return {
    /**
     * Stores a chunk. Throws AccpError E3003 after the end, E3002 for a repeated index, E1004 for an invalid one, E5001 for another sender, E2003
     * if the buffer is full.
     */
    accept(cid: string, agent: string, chunk: StreamChunk): void {
      const ending = buffer.endingOf(cid);
      if (ending === 'abandoned') {
        emit('stream-dropped', `A chunk of the stream ${cid} was dropped, since the reader stopped early.`, {
          details: { correlationId: cid, index: chunk.index },
        });
        return;
      }
      const known = buffer.streams.get(cid);
      if (known !== undefined) checkSender(known, agent);
      if (ending !== undefined || (known !== undefined && (known.failure !== null || isComplete(known)))) {
        throw overError(cid);
      }
      const before = known ?? newStream(cid, null);
      const count = checkChunk(before, chunk);
      if (before.agent === null) makeRoom();
      const full = fullness(before, chunk);
      if (full !== null) {
        if (known !== undefined) fail(known, full);
        throw errorOf(full);
      }
      const stream = known ?? openStream(cid);
      const isNew = stream.agent === null;
      if (isNew) emit('stream-started', `@${agent} started the stream ${cid}.`, details(stream));
      const changed = isNew || count !== stream.count || chunk.final;
      stream.agent = agent;
      stream.count = count;
      stream.final ||= chunk.final;
      stream.highest = Math.max(stream.highest, chunk.index);
      stream.activeAt = now();
      stream.disconnectError = null;
      buffer.put(stream, chunk);
      if (changed) buffer.save(stream);
      stream.reader?.wake();
    },

    /** Ends a stream; the reader gets E3003 if chunks are missing. Throws AccpError E5001 for another sender. */
    end(cid: string, agent: string): void {
      const stream = buffer.streams.get(cid);
      if (stream === undefined) return;
      checkSender(stream, agent);
      if (stream.failure !== null || isComplete(stream)) return;
      fail(stream, incomplete(stream));
    },

    /** Drops the chunks of a stream; the reader gets the error at once. */
    abort(cid: string, { code, message, details: more }: AccpError): void {
      const stream = buffer.streams.get(cid);
      if (stream === undefined) return;
      for (const index of [...stream.waiting.keys()]) buffer.remove(stream, index);
      stream.isDelivered = false;
      fail(stream, { code, message, details: more });
    },

    /**
     * Returns the chunks of a stream. A chunk counts as read when the next one is requested: one that the reader has when the process ends is
     * repeated after a resume.
     *
     * The loop throws AccpError E3003 if chunks are missing, E3001 after a timeout, E2003 if the buffer was full, and the error of `abort`.
     */
    open(cid: string): AsyncIterable<StreamChunk> {
      const known = buffer.streams.get(cid);
      if (known !== undefined && known.reader !== null) throw new TypeError(`The stream ${cid} already has a reader`);
      if (known === undefined && buffer.endingOf(cid) !== undefined) {
        return createReader(
          () => ({ kind: 'error', error: overError(cid) }),
          () => {},
        ).chunks;
      }
      const stream = known ?? openStream(cid);
      stream.reader = createReader(
        (requested) => take(stream, requested),
        () => abandon(stream),
      );
      return stream.reader.chunks;
    },

    /**
     * Ends the loops of readers with an error after the senders have disconnected. The streams stay in the journal, in case the
     * senders reconnect.
     */
    disconnect(error?: Error): void {
      for (const stream of buffer.streams.values()) {
        if (stream.reader === null || stream.failure !== null || isComplete(stream)) continue;
        stream.disconnectError =
          error ??
          errorOf(missing('E3003', stream, (index) => `the connection ended before chunk ${index} of the stream`));
        stream.reader.wake();
      }
    },

    tick(at = now()): void {
      if (at < nextTimeoutAt) return;
      nextTimeoutAt = Number.POSITIVE_INFINITY;
      for (const stream of [...buffer.streams.values()]) {
        if (stream.failure !== null || isComplete(stream)) continue;
        // Time does not pass for a stream while no process runs.
        stream.activeAt ??= at;
        if (at - stream.activeAt >= timeoutMs)
          fail(
            stream,
            missing('E3001', stream, (index) => `chunk ${index} of the stream was not received within ${timeoutMs} ms`),
          );
        else nextTimeoutAt = Math.min(nextTimeoutAt, stream.activeAt + timeoutMs);
      }
    },

    /** The identifiers of the streams that are not received or not read to their end. */
    pending(): readonly string[] {
      return [...buffer.streams.keys()];
    },

    /** Ends the loops of all readers. The streams stay in the journal, for a resumed session. */
    close(): void {
      closed = true;
      for (const { reader } of buffer.streams.values()) reader?.wake();
    },
  };
}

function incomplete(stream: Stream): Failure {
  if (stream.final) return missing('E3003', stream, (index) => `the stream ended without chunk ${index}`);
  return { code: 'E3003', message: 'the stream ended without a final chunk', details: {} };
}

function missing(code: Failure['code'], stream: Stream, describe: (index: number) => string): Failure {
  const index = firstMissing(stream);
  return { code, message: describe(index), details: { missing: index } };
}

function overError(cid: string): AccpError {
  return accpError('E3003', undefined, `the stream ${cid} has ended`);
}

function closedError(): AccpError {
  return accpError(
    'E9999',
    undefined,
    'the session was closed before the end of the stream',
    'resume the session from its store to continue the stream',
  );
}

function details({ cid, agent }: Stream): { details: Record<string, unknown> } {
  return { details: { correlationId: cid, ...(agent === null ? {} : { sender: agent }) } };
}

function checkLimit(name: string, value: number, least: number): void {
  if (!Number.isSafeInteger(value) || value < least)
    throw new TypeError(`${name} must be an integer of at least ${least}; got ${value}`);
}
