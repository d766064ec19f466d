/** Received streams: chunks in any order become an ordered `AsyncIterable` (draft-benzing-accp-00, section 10.4). */
import { type AccpError, accpError } from '../errors.js';
import type { Json } from '../message/json.js';
import type { Note } from '../store/events.js';
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
  Shelf,
  type Step,
  type Stream,
  type StreamChunk,
} from './stream.js';

export type { StreamChunk } from './stream.js';

export interface StreamsOptions {
  readonly journal: Journal;
  readonly now: () => number;
  /** Unread chunks of one stream. @default 1024 */
  readonly maxBuffered?: number | undefined;
  /** Characters of the data, as JSON, of the unread chunks of all streams. @default 8 Mi */
  readonly maxCharacters?: number | undefined;
  /** Streams not read to their end. @default 64 */
  readonly maxStreams?: number | undefined;
  /** Milliseconds without a chunk until a stream fails; `Infinity` for never. @default 60000 */
  readonly timeoutMs?: number | undefined;
  /** Commits the journal when a reader has taken a chunk or left; callers of the methods commit themselves. */
  readonly save?: (() => void) | undefined;
  readonly note: Note;
}

/** The received streams, by `correlation_id`. */
export type Streams = ReturnType<typeof createStreams>;

/** @throws TypeError on invalid limits */
export function createStreams(options: StreamsOptions) {
  const { now, note, maxBuffered = 1024, maxCharacters = 8 * 2 ** 20, maxStreams = 64, timeoutMs = 60_000 } = options;
  const save = options.save ?? (() => {});
  checkLimit('maxBuffered', maxBuffered, 1);
  checkLimit('maxCharacters', maxCharacters, 1);
  checkLimit('maxStreams', maxStreams, 1);
  if (!(timeoutMs > 0)) {
    throw new TypeError(`timeoutMs must be a positive number of milliseconds, or Infinity; got ${timeoutMs}`);
  }
  const shelf = new Shelf(options.journal);
  /** A lower bound of all timeouts. Chunks only delay them, so it is recomputed when reached. */
  let due = shelf.streams.size > 0 ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY;
  let closed = false;

  function begun(cid: string): Stream {
    const at = now();
    const stream = newStream(cid, at);
    shelf.streams.set(cid, stream);
    due = Math.min(due, at + timeoutMs);
    return stream;
  }

  function fail(stream: Stream, failure: Failure): void {
    const gap = firstMissing(stream);
    // Chunks behind the gap will never be read.
    for (const index of [...stream.waiting.keys()]) if (index > gap) shelf.remove(stream, index);
    stream.failure = failure;
    shelf.save(stream);
    note('stream-failed', `The stream ${stream.cid} has failed: ${failure.message}.`, details(stream));
    stream.reader?.wake();
  }

  /** Marks the chunk in hand as read. @returns whether there was one */
  function acknowledge(stream: Stream): boolean {
    if (!stream.inHand) return false;
    stream.inHand = false;
    shelf.remove(stream, stream.next);
    stream.next++;
    shelf.save(stream);
    return true;
  }

  function take(stream: Stream, asked: boolean): Step | null {
    if (closed) return { kind: 'error', error: closedError() };
    if (acknowledge(stream) && asked) save();
    if (stream.waiting.has(stream.next)) {
      stream.inHand = true;
      return { kind: 'chunk', chunk: shelf.handOut(stream, stream.next) };
    }
    if (stream.failure !== null) {
      shelf.end(stream, 'failed');
      if (asked) save();
      // A closed link has cancelled its streams, too.
      return { kind: 'error', error: stream.cut ?? errorOf(stream.failure) };
    }
    if (!isComplete(stream)) {
      const { cut } = stream;
      if (cut === null) return null;
      stream.cut = null;
      stream.reader = null;
      return { kind: 'error', error: cut };
    }
    shelf.end(stream, 'read');
    if (asked) save();
    note('stream-read', `The stream ${stream.cid} was read to its end.`, details(stream));
    return { kind: 'done' };
  }

  function leave(stream: Stream): void {
    if (closed) return;
    shelf.end(stream, 'left');
    save();
    note(
      'stream-left',
      `The reader of the stream ${stream.cid} has left; what is still to come is dropped.`,
      details(stream),
    );
  }

  /** Forgets a failed stream without a reader. @returns whether there was one */
  function forgetFailed(): boolean {
    for (const stream of shelf.streams.values()) {
      if (stream.failure === null || stream.reader !== null) continue;
      shelf.end(stream, 'failed');
      note('stream-forgotten', `The stream ${stream.cid}, which had failed, was never read.`, details(stream));
      return true;
    }
    return false;
  }

  function makeRoom(): void {
    if (shelf.size < maxStreams || forgetFailed()) return;
    throw accpError('E2003', undefined, `there are ${maxStreams} streams that are not read to their end`);
  }

  /** Whether a chunk has no room, even after forgetting failed streams. */
  function isTooLong(data: Json): boolean {
    const characters = charactersOf(data);
    while (shelf.characters + characters > maxCharacters) if (!forgetFailed()) return true;
    return false;
  }

  function checkSender({ cid, agent: sender }: Stream, agent: string): void {
    if (sender === null || sender === agent) return;
    throw accpError('E5001', undefined, `the stream ${cid} is sent by @${sender}, not by @${agent}`);
  }

  /** Returns why there is no room for a chunk, or `null`. */
  function fullness(stream: Stream, { index, data }: StreamChunk): Failure | null {
    const { waiting, inHand, next, reader } = stream;
    // The chunk that a reader waits for needs no room.
    if (index === next && reader?.isWaiting()) return null;
    const isFull = waiting.size - (inHand ? 1 : 0) >= maxBuffered;
    if (!isFull && !isTooLong(data)) return null;
    const message = isFull
      ? `more than ${maxBuffered} chunks of the stream wait for chunk ${firstMissing(stream)} or for its reader`
      : `more than ${maxCharacters} characters in chunks of streams wait for their readers`;
    return { code: 'E2003', message, details: {} };
  }

  return {
    /** Throws AccpError E3003 after the end, E3002 for a repeated index, E1004 for an invalid one, E5001 for another sender, E2003 if full. */
    accept(cid: string, agent: string, chunk: StreamChunk): void {
      const ending = shelf.endingOf(cid);
      if (ending === 'left') {
        note('stream-dropped', `A chunk of the stream ${cid} was dropped: its reader has left.`, {
          details: { correlationId: cid, index: chunk.index },
        });
        return;
      }
      const known = shelf.streams.get(cid);
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
      const stream = known ?? begun(cid);
      const isNew = stream.agent === null;
      if (isNew) note('stream-begun', `@${agent} has begun the stream ${cid}.`, details(stream));
      const changed = isNew || count !== stream.count || chunk.final;
      stream.agent = agent;
      stream.count = count;
      stream.final ||= chunk.final;
      stream.highest = Math.max(stream.highest, chunk.index);
      stream.at = now();
      stream.cut = null;
      shelf.put(stream, chunk);
      if (changed) shelf.save(stream);
      stream.reader?.wake();
    },

    /** Gaps give the reader E3003. Throws AccpError E5001 for another sender. */
    end(cid: string, agent: string): void {
      const stream = shelf.streams.get(cid);
      if (stream === undefined) return;
      checkSender(stream, agent);
      if (stream.failure !== null || isComplete(stream)) return;
      fail(stream, incomplete(stream));
    },

    /** Drops the chunks of a stream; its reader gets the error at once. */
    abort(cid: string, { code, message, details: told }: AccpError): void {
      const stream = shelf.streams.get(cid);
      if (stream === undefined) return;
      for (const index of [...stream.waiting.keys()]) shelf.remove(stream, index);
      stream.inHand = false;
      fail(stream, { code, message, details: told });
    },

    /**
     * A chunk counts as read when the next one is requested: one in hand when the process ends is repeated after a resume.
     *
     * The loop throws AccpError E3003 if chunks are missing, E3001 after a timeout, E2003 if the buffer was full, and the error of `abort`.
     */
    open(cid: string): AsyncIterable<StreamChunk> {
      const known = shelf.streams.get(cid);
      if (known !== undefined && known.reader !== null) throw new TypeError(`The stream ${cid} has a reader already`);
      if (known === undefined && shelf.endingOf(cid) !== undefined) {
        return createReader(
          () => ({ kind: 'error', error: overError(cid) }),
          () => {},
        ).chunks;
      }
      const stream = known ?? begun(cid);
      stream.reader = createReader(
        (asked) => take(stream, asked),
        () => leave(stream),
      );
      return stream.reader.chunks;
    },

    /** The senders have disconnected: readers get an error, and the streams stay in the journal in case the senders come back. */
    cut(error?: Error): void {
      for (const stream of shelf.streams.values()) {
        if (stream.reader === null || stream.failure !== null || isComplete(stream)) continue;
        stream.cut =
          error ??
          errorOf(missing('E3003', stream, (index) => `the connection has ended before chunk ${index} of the stream`));
        stream.reader.wake();
      }
    },

    tick(at = now()): void {
      if (at < due) return;
      due = Number.POSITIVE_INFINITY;
      for (const stream of [...shelf.streams.values()]) {
        if (stream.failure !== null || isComplete(stream)) continue;
        // Time does not pass for a stream while no process runs.
        stream.at ??= at;
        if (at - stream.at >= timeoutMs)
          fail(
            stream,
            missing('E3001', stream, (index) => `chunk ${index} of the stream has not come within ${timeoutMs} ms`),
          );
        else due = Math.min(due, stream.at + timeoutMs);
      }
    },

    /** Streams not received or not read to their end. */
    get pending(): readonly string[] {
      return [...shelf.streams.keys()];
    },

    /** Ends the loops of all readers. The streams stay in the journal, for a resumed session. */
    close(): void {
      closed = true;
      for (const { reader } of shelf.streams.values()) reader?.wake();
    },
  };
}

function incomplete(stream: Stream): Failure {
  if (stream.final) return missing('E3003', stream, (index) => `the stream was ended without chunk ${index}`);
  return { code: 'E3003', message: 'the stream was ended without a final chunk', details: {} };
}

function missing(code: Failure['code'], stream: Stream, say: (index: number) => string): Failure {
  const index = firstMissing(stream);
  return { code, message: say(index), details: { missing: index } };
}

function overError(cid: string): AccpError {
  return accpError('E3003', undefined, `the stream ${cid} has ended`);
}

function closedError(): AccpError {
  return accpError(
    'E9999',
    undefined,
    'the session was closed before the stream had ended',
    'resume the session from its store to go on with the stream',
  );
}

function details({ cid, agent }: Stream): { details: Record<string, unknown> } {
  return { details: { correlationId: cid, ...(agent === null ? {} : { sender: agent }) } };
}

function checkLimit(name: string, value: number, least: number): void {
  if (!Number.isSafeInteger(value) || value < least) throw new TypeError(`${name} is a whole number from ${least} on`);
}
