/** Whether a chunk fits what is known of its stream (draft-benzing-accp-00, section 10.4). */
import { AccpError } from '../errors/accp-error.js';
import type { StreamChunk } from './chunk.js';
import type { Stream } from './stream.js';

/** What chunks are checked against. */
export interface Progress extends Pick<Stream, 'next' | 'count' | 'final' | 'highest'> {
  /** The indexes beyond `next` that have come. */
  readonly waiting: { readonly has: (index: number) => boolean };
}

/**
 * @returns how many chunks the stream has, as far as is known with this one
 * @throws AccpError E3002 for an index that has come before; E1004 for one that is none, and for a chunk that
 *   contradicts what was told of the length of the stream
 */
export function checkChunk(stream: Progress, { index, total, final }: StreamChunk): number | null {
  if (!Number.isSafeInteger(index) || index < 0) {
    throw unfit('chunk_index', 'the index of a chunk is a whole number from 0 on');
  }
  if (total !== undefined && (!Number.isSafeInteger(total) || total < 1)) {
    throw unfit('total_chunks', 'the number of chunks is a whole number from 1 on');
  }
  if (index < stream.next || stream.waiting.has(index)) {
    throw new AccpError({
      code: 'E3002',
      path: 'payload.chunk_index',
      message: `chunk ${index} of this stream has come before`,
    });
  }
  if (final && stream.final) {
    throw unfit('is_final', `the final chunk has come, with the index ${stream.count! - 1}; there is no second`);
  }
  const count = total ?? stream.count;
  if (total !== undefined && stream.count !== null && total !== stream.count) {
    throw unfit('total_chunks', `the stream has ${stream.count} chunks by what came before, not ${total}`);
  }
  if (count !== null && index >= count) {
    throw unfit('chunk_index', `the stream has ${count} chunks, so its last index is ${count - 1}, and not ${index}`);
  }
  if (count !== null && final && index !== count - 1) {
    throw unfit('is_final', `the stream has ${count} chunks, so the final one is ${count - 1}, and not ${index}`);
  }
  const told = final ? index + 1 : count;
  if (told !== null && stream.highest >= told) {
    throw unfit(final ? 'is_final' : 'total_chunks', `a chunk with the index ${stream.highest} has come before`);
  }
  return told;
}

function unfit(key: string, message: string): AccpError {
  return new AccpError({ code: 'E1004', path: `payload.${key}`, message });
}
