/** Incoming sequences of frames, stored until the message is complete (draft-benzing-accp-00, section 3.4). */
import type { Frame, Param } from '../ast.js';
import { type AccpError, accpError } from '../errors.js';
import { type Dialect, tryParseFrame } from '../parse.js';
import type { Collection, Journal } from '../store/journal.js';
import type { Part, ReceivedEnvelope } from './envelope.js';
import { joinPieces, MAX_CHARACTERS, MAX_PARTS, type Piece } from './sequence.js';

const MAX_SEQUENCES = 64;

interface Progress extends Pick<Frame, 'intent' | 'operation'> {
  /** The prefix of the keys of the frames. */
  readonly id: number;
  readonly total: number;
  readonly next: number;
  readonly envelope: ReceivedEnvelope;
  readonly length: number;
  readonly updatedAt: number;
}

/** A received frame as text: the smallest form that preserves all spellings. */
interface StoredPart {
  readonly text: string;
  readonly dialect: Dialect;
  readonly cut?: number | undefined;
}

export interface Joined {
  readonly params: readonly Param[];
  readonly envelope: ReceivedEnvelope;
}

export interface IncomingPart extends Pick<Frame, 'agent' | 'intent' | 'operation'> {
  readonly part: Part;
  readonly envelope: ReceivedEnvelope;
  /** The text of the plain frame, which is parsed again when the message is complete. */
  readonly text: string;
  readonly dialect: Dialect;
  readonly now: number;
}

export class Sequences {
  readonly #progress: Collection<Progress>;
  /** The frames, stored separately, so that each of them is written once. */
  readonly #parts: Collection<StoredPart>;
  #length = 0;
  #lastId = 0;

  constructor(journal: Journal) {
    this.#progress = journal.collection('sequences');
    this.#parts = journal.collection('sequence-parts');
    for (const { id, length } of this.#progress.values()) {
      this.#length += length;
      this.#lastId = Math.max(this.#lastId, id);
    }
  }

  /** Adds a frame; the last one returns the message. Throws AccpError E1001 for a frame out of order, E2003 beyond the limits. */
  add(incoming: IncomingPart): Joined | null {
    const { agent, part, envelope, text, dialect } = incoming;
    const { cid } = envelope;
    if (cid === undefined) throw invalidPart('a part of a message must have a cid');
    const key = `${agent}:${cid}`;
    const before = part.index === 0 ? this.#begin(key, incoming) : this.#continue(key, incoming);
    if (this.#length + text.length > MAX_CHARACTERS) {
      this.#remove(key);
      throw accpError(
        'E2003',
        undefined,
        `Incomplete messages can have at most ${MAX_CHARACTERS} characters together.`,
      );
    }
    if (part.index === part.total - 1) {
      const pieces = this.#pieces(before);
      this.#remove(key);
      // Like the others: the entries of a map must be in the order of the text.
      const last = pieceOf({ text, dialect, cut: part.cut }, part.index);
      return { params: joinPieces([...pieces, last]), envelope: before.envelope };
    }
    this.#store(key, before, incoming);
    return null;
  }

  /** Drops the sequences without progress since `before`, in milliseconds since 1970; returns their number. */
  dropStale(before: number, now = Number.POSITIVE_INFINITY): number {
    // A time ahead of now is from an earlier process whose clock was set back: restart its wait.
    for (const [key, progress] of [...this.#progress.entries()])
      if (progress.updatedAt > now) this.#progress.set(key, { ...progress, updatedAt: now });
    const stale = [...this.#progress.entries()].filter(([, { updatedAt }]) => updatedAt < before);
    for (const [key] of stale) this.#remove(key);
    return stale.length;
  }

  #begin(key: string, { part, intent, operation, envelope, now }: IncomingPart): Progress {
    const { total } = part;
    if (total < 1 || total > MAX_PARTS) throw invalidPart(`a message must have 1 to ${MAX_PARTS} parts; got ${total}`);
    if (!this.#progress.has(key) && this.#progress.size >= MAX_SEQUENCES) {
      throw accpError(
        'E2003',
        undefined,
        `Too many incomplete messages; at most ${MAX_SEQUENCES} are joined at a time.`,
      );
    }
    this.#remove(key);
    return { id: ++this.#lastId, total, next: 0, intent, operation, envelope, length: 0, updatedAt: now };
  }

  #continue(key: string, { part, intent, operation }: IncomingPart): Progress {
    const before = this.#progress.get(key);
    if (before === undefined || before.total !== part.total || before.next !== part.index) {
      this.#remove(key);
      throw invalidPart(`part ${part.index} of ${part.total} does not continue the previous part`);
    }
    if (before.intent !== intent || before.operation !== operation) {
      this.#remove(key);
      const [one, other] = [`${before.intent}:${before.operation}`, `${intent}:${operation}`];
      throw invalidPart(`part ${part.index} belongs to another message: expected ${one}; got ${other}`);
    }
    return before;
  }

  #store(key: string, before: Progress, { part, text, dialect, now }: IncomingPart): void {
    const { cut } = part;
    const length = before.length + text.length;
    this.#parts.set(partKey(before, part.index), { text, dialect, ...(cut === undefined ? {} : { cut }) });
    this.#progress.set(key, { ...before, next: part.index + 1, length, updatedAt: now });
    this.#length += text.length;
  }

  #pieces(progress: Progress): Piece[] {
    const pieces: Piece[] = [];
    for (let index = 0; index < progress.next; index++) {
      pieces.push(pieceOf(this.#parts.get(partKey(progress, index)), index));
    }
    return pieces;
  }

  #remove(key: string): void {
    const progress = this.#progress.get(key);
    if (progress === undefined) return;
    this.#progress.delete(key);
    for (let index = 0; index < progress.next; index++) this.#parts.delete(partKey(progress, index));
    this.#length -= progress.length;
  }
}

function pieceOf(part: StoredPart | undefined, index: number): Piece {
  const parsed = part && tryParseFrame(part.text, { dialect: part.dialect });
  if (!parsed?.ok) throw invalidPart(`part ${index} is missing from the store`);
  return { params: parsed.value.payload, cut: part!.cut };
}

function partKey({ id }: Progress, index: number): string {
  return `${id}:${index}`;
}

function invalidPart(message: string): AccpError {
  return accpError('E1001', 'metadata.idx', message);
}
