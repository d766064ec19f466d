/** What a run of frames has begun and not brought to an end, so that a cut is told from an end (draft-benzing-accp-00, sections 3.4 and 10.4). */
import type { Param } from '../ast.js';
import { tryParseFrame } from '../parse.js';
import { ENDING_INTENTS } from '../vocabulary.js';
import { numberOf, textOf } from './frames.js';

/** A stream whose final chunk, or some chunk before it, has not come. */
interface Begun {
  chunks: number;
  /** How many there are, once the final one has come. */
  count: number | undefined;
}

/** Follows the streams and the messages in several frames that an answer carries. */
export class Unfinished {
  readonly #streams = new Map<string, Begun>();
  readonly #messages = new Set<string>();
  #isEnd = false;

  /** Takes the next frame; a text that is not a frame changes nothing. */
  take(frame: string): void {
    const parsed = tryParseFrame(frame, { dialect: 'lenient' });
    if (!parsed.ok) return;
    const { intent, payload, metadata } = parsed.value;
    const cid = textOf(metadata, 'cid');
    const chain = cid ?? '';
    const total = numberOf(metadata, 'tot');
    if (total !== undefined) {
      this.#messages.delete(chain);
      if ((numberOf(metadata, 'idx') ?? 0) < total - 1) this.#messages.add(chain);
    }
    const schema = textOf(payload, 'schema');
    this.#isEnd = ENDING_INTENTS.has(intent);
    // An error that names no chain is about what was asked.
    if (schema === 'ER' && cid === undefined) this.#streams.clear();
    else if (this.#isEnd) this.#streams.delete(chain);
    else if (schema === 'ST') this.#isEnd = this.#chunk(chain, payload);
  }

  get isWhole(): boolean {
    return this.#streams.size === 0 && this.#messages.size === 0;
  }

  /** Whether the last frame has ended its chain, and nothing else is open. */
  get hasEnded(): boolean {
    return this.#isEnd && this.isWhole;
  }

  /** What has not come, in words. */
  get missing(): string {
    return this.#streams.size > 0 ? 'the end of a stream' : 'the rest of a message in several frames';
  }

  /** Returns whether it makes its stream whole. */
  #chunk(chain: string, payload: readonly Param[]): boolean {
    const index = numberOf(payload, 'idx') ?? numberOf(payload, 'chunk_index') ?? 0;
    const stream = this.#streams.get(chain) ?? { chunks: 0, count: undefined };
    stream.chunks++;
    if (textOf(payload, 'done') === 'true' || textOf(payload, 'is_final') === 'true') stream.count = index + 1;
    // Chunks may come in any order: the final one is the last of the stream, not always the last that comes.
    const isWhole = stream.count !== undefined && stream.chunks >= stream.count;
    if (isWhole) this.#streams.delete(chain);
    else this.#streams.set(chain, stream);
    return isWhole;
  }
}
