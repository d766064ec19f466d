/** A stream as the messages that carry it (draft-benzing-accp-00, sections 4.1 and 10.4). */
import { AccpError } from '../errors/accp-error.js';
import type { Json } from '../message/json.js';
import type { MessageInput } from '../message/message.js';
import { errorPayload } from '../profiles/error.js';
import type { StreamChunk } from './chunk.js';
import { type SplitOptions, type StreamSource, splitStream } from './split-stream.js';

export interface StreamMessagesOptions extends SplitOptions {
  /** The `correlation_id` that all frames of the stream share. */
  readonly cid: string;
  /** What is being done: `infer`, `analyze`, ... */
  readonly operation: string;
  /** @default the session's agent */
  readonly agent?: string | undefined;
}

/**
 * The messages of a stream, to be encoded one after the other: its chunks, and at the end an `end` message, so that the
 * end is known whichever of the two a receiver goes by.
 *
 * When the source throws, the last message is `fail:error` under the same `correlation_id`: with the code of an
 * AccpError, else E9999, and without the error's words, which may not be meant for others. The error is then thrown on.
 * Whoever leaves the loop early has told the receiver nothing, and may send `cancel`.
 *
 * @throws TypeError on options that are none
 * @example
 * for await (const message of streamMessages(answer, { cid: 'c1', operation: 'infer' })) {
 *   send(codec.encode(message, session));
 * }
 */
export function streamMessages(source: StreamSource, options: StreamMessagesOptions): AsyncIterable<MessageInput> {
  return messages(splitStream(source, options), options);
}

async function* messages(
  chunks: AsyncIterable<StreamChunk>,
  { cid, operation, agent }: StreamMessagesOptions,
): AsyncGenerator<MessageInput> {
  const common = { ...(agent === undefined ? {} : { agent }), operation, envelope: { correlation_id: cid } };
  try {
    for await (const chunk of chunks) {
      yield { ...common, intent: 'stream', schema: 'ST', payload: payloadOf(chunk) };
    }
  } catch (thrown) {
    const code = thrown instanceof AccpError ? thrown.code : 'E9999';
    const payload = errorPayload(code, 'the_source_of_the_stream_failed');
    yield { ...common, intent: 'fail', operation: 'error', schema: 'ER', payload };
    throw thrown;
  }
  yield { ...common, intent: 'end' };
}

function payloadOf({ index, total, data, final }: StreamChunk): { readonly [key: string]: Json } {
  return {
    chunk_index: index,
    ...(total === undefined ? {} : { total_chunks: total }),
    data,
    // Left out, it is false.
    ...(final ? { is_final: true } : {}),
  };
}
