/** Messages that come as a sequence of frames, kept until they are whole (draft-benzing-accp-00, section 3.4). */
import type { Param } from '../ast.js';
import { AccpError } from '../codec/accp-error.js';
import { joinPieces, MAX_PARTS, type Piece } from '../codec/sequence.js';
import type { Part, ReceivedEnvelope } from './envelope.js';
import type { Collection, Journal } from './journal.js';

/** Sequences that may be under way at once. */
const MAX_SEQUENCES = 64;
/** Characters of all frames of one sequence. */
const MAX_LENGTH = 4 * 1024 * 1024;

interface Progress {
  readonly total: number;
  /** Of the first frame: it is the message's. */
  readonly envelope: ReceivedEnvelope;
  readonly pieces: readonly Piece[];
  /** Characters so far. */
  readonly length: number;
  /** Seconds since 1970 of the last frame. */
  readonly at: number;
}

/** A message that has become whole. */
export interface Joined {
  readonly params: readonly Param[];
  readonly envelope: ReceivedEnvelope;
}

export interface IncomingPart {
  readonly agent: string;
  readonly part: Part;
  readonly envelope: ReceivedEnvelope;
  readonly params: readonly Param[];
  /** Characters of the frame. */
  readonly length: number;
  readonly now: number;
}

export class Sequences {
  readonly #progress: Collection<Progress>;

  constructor(journal: Journal) {
    this.#progress = journal.collection('sequences');
  }

  /**
   * Takes the next frame of a sequence; gives the message with the last one.
   *
   * @throws AccpError E1001 for a frame that does not go on where the last one ended, E2003 for too much
   */
  add({ agent, part, envelope, params, length, now }: IncomingPart): Joined | null {
    const { cid } = envelope;
    if (cid === undefined) throw broken('a part of a message needs a cid');
    const key = `${agent}:${cid}`;
    const before = this.#progress.get(key);
    if (part.index === 0) this.#begin(key, part);
    else if (before === undefined || before.total !== part.total || before.pieces.length !== part.index) {
      this.#progress.delete(key);
      throw broken(`part ${part.index} of ${part.total} does not go on where the last one ended`);
    }
    const started = part.index === 0 ? undefined : before;
    const progress: Progress = {
      total: part.total,
      envelope: started?.envelope ?? envelope,
      pieces: [...(started?.pieces ?? []), { params, cut: part.cut }],
      length: (started?.length ?? 0) + length,
      at: now,
    };
    if (progress.length > MAX_LENGTH) {
      this.#progress.delete(key);
      throw new AccpError({
        code: 'E2003',
        message: `A message of more than ${MAX_LENGTH} characters is not put together.`,
      });
    }
    if (part.index < part.total - 1) {
      this.#progress.set(key, progress);
      return null;
    }
    this.#progress.delete(key);
    return { params: joinPieces(progress.pieces), envelope: progress.envelope };
  }

  /** Gives up the sequences that have not gone on since `before`, in seconds since 1970; returns how many. */
  forget(before: number): number {
    const stale = [...this.#progress.entries()].filter(([, { at }]) => at < before);
    for (const [key] of stale) this.#progress.delete(key);
    return stale.length;
  }

  #begin(key: string, { total }: Part): void {
    if (total < 1 || total > MAX_PARTS) throw broken(`a message of ${total} parts; 1 to ${MAX_PARTS} are taken`);
    if (!this.#progress.has(key) && this.#progress.size >= MAX_SEQUENCES) {
      throw new AccpError({ code: 'E2003', message: `${MAX_SEQUENCES} messages are being put together already.` });
    }
  }
}

function broken(message: string): AccpError {
  return new AccpError({ code: 'E1001', path: 'metadata.idx', message });
}
