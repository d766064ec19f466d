/** Incoming sequences of frames, kept until the message is complete (draft-benzing-accp-00, section 3.4). */
import type { Frame, Param } from '../ast.js';
import { type AccpError, accpError } from '../errors.js';
import { type Dialect, tryParseFrame } from '../parse.js';
import type { Collection, Journal } from '../store/journal.js';
import type { Part, ReceivedEnvelope } from './envelope.js';
import { joinPieces, MAX_CHARACTERS, MAX_PARTS, type Piece } from './sequence.js';

const MAX_SEQUENCES = 64;

interface Progress extends Pick<Frame, 'intent' | 'operation'> {
  /** Prefix of the keys of its frames. */
  readonly id: number;
  readonly total: number;
  readonly next: number;
  readonly envelope: ReceivedEnvelope;
  readonly length: number;
  readonly updatedAt: number;
}

/** A frame as received: the smallest form that keeps all spellings. */
interface Kept {
  readonly text: string;
  readonly dialect: Dialect;
  readonly cut?: number;
}

export interface Joined {
  readonly params: readonly Param[];
  readonly envelope: ReceivedEnvelope;
}

export interface IncomingPart extends Pick<Frame, 'agent' | 'intent' | 'operation'> {
  readonly part: Part;
  readonly envelope: ReceivedEnvelope;
  readonly params: readonly Param[];
  /** The frame is parsed again when the message is complete. */
  readonly text: string;
  readonly dialect: Dialect;
  readonly now: number;
}

export class Sequences {
  readonly #progress: Collection<Progress>;
  /** Separate, so that each frame is stored once. */
  readonly #parts: Collection<Kept>;
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

  /** Returns the message with the last frame. Throws AccpError E1001 for a frame out of order, E2003 beyond the limits. */
  add(incoming: IncomingPart): Joined | null {
    const { agent, part, envelope, params, text } = incoming;
    const { cid } = envelope;
    if (cid === undefined) throw broken('a part of a message needs a cid');
    const key = `${agent}:${cid}`;
    const before = part.index === 0 ? this.#begin(key, incoming) : this.#goOn(key, incoming);
    if (this.#length + text.length > MAX_CHARACTERS) {
      this.#remove(key);
      throw accpError(
        'E2003',
        undefined,
        `Messages of more than ${MAX_CHARACTERS} characters together are not put together.`,
      );
    }
    if (part.index === part.total - 1) {
      const pieces = this.#pieces(before);
      this.#remove(key);
      return { params: joinPieces([...pieces, { params, cut: part.cut }]), envelope: before.envelope };
    }
    this.#keep(key, before, incoming);
    return null;
  }

  /** Drops the sequences without progress since `before`, in milliseconds since 1970; returns their number. */
  forget(before: number, now = Number.POSITIVE_INFINITY): number {
    // A time ahead of now is from an earlier process whose clock was set back: restart its wait.
    for (const [key, progress] of [...this.#progress.entries()])
      if (progress.updatedAt > now) this.#progress.set(key, { ...progress, updatedAt: now });
    const stale = [...this.#progress.entries()].filter(([, { updatedAt }]) => updatedAt < before);
    for (const [key] of stale) this.#remove(key);
    return stale.length;
  }

  #begin(key: string, { part, intent, operation, envelope, now }: IncomingPart): Progress {
    const { total } = part;
    if (total < 1 || total > MAX_PARTS) throw broken(`a message of ${total} parts; 1 to ${MAX_PARTS} are taken`);
    if (!this.#progress.has(key) && this.#progress.size >= MAX_SEQUENCES) {
      throw accpError('E2003', undefined, `${MAX_SEQUENCES} messages are being put together already.`);
    }
    this.#remove(key);
    return { id: ++this.#lastId, total, next: 0, intent, operation, envelope, length: 0, updatedAt: now };
  }

  #goOn(key: string, { part, intent, operation }: IncomingPart): Progress {
    const before = this.#progress.get(key);
    if (before === undefined || before.total !== part.total || before.next !== part.index) {
      this.#remove(key);
      throw broken(`part ${part.index} of ${part.total} does not go on where the last one ended`);
    }
    if (before.intent !== intent || before.operation !== operation) {
      this.#remove(key);
      const [one, other] = [`${before.intent}:${before.operation}`, `${intent}:${operation}`];
      throw broken(`part ${part.index} is of another message: it says ${other}, and the first part ${one}`);
    }
    return before;
  }

  #keep(key: string, before: Progress, { part, text, dialect, now }: IncomingPart): void {
    const { cut } = part;
    const length = before.length + text.length;
    this.#parts.set(partKey(before, part.index), { text, dialect, ...(cut === undefined ? {} : { cut }) });
    this.#progress.set(key, { ...before, next: part.index + 1, length, updatedAt: now });
    this.#length += text.length;
  }

  #pieces(progress: Progress): Piece[] {
    const pieces: Piece[] = [];
    for (let index = 0; index < progress.next; index++) {
      const kept = this.#parts.get(partKey(progress, index));
      const parsed = kept && tryParseFrame(kept.text, { dialect: kept.dialect });
      if (!parsed?.ok) throw broken(`part ${index} was not kept`);
      pieces.push({ params: parsed.value.payload, cut: kept!.cut });
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

function partKey({ id }: Progress, index: number): string {
  return `${id}:${index}`;
}

function broken(message: string): AccpError {
  return accpError('E1001', 'metadata.idx', message);
}
