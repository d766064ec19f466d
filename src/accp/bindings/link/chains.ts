/** Messages that ask for an answer, each in a chain of its own. */
import type { Message, MessageInput } from '../../message/message.js';
import { chatMessage } from '../../profiles/profiles.js';
import { createIds } from '../../session/runtime.js';
import type { StreamChunk } from '../../streams/streams.js';
import { LinkError } from './errors.js';

/** A message whose chain is named. */
export interface ChainedMessage extends MessageInput {
  readonly envelope: NonNullable<MessageInput['envelope']> & { readonly correlation_id: string };
}

const freshId = createIds();

/**
 * A request with a chain of its own. Without one, its answers go by its identifier, and one that has to be sent again gets another:
 * nobody would know the answer.
 */
export function inChain(message: MessageInput | string): ChainedMessage {
  const { envelope, ...rest } = typeof message === 'string' ? chatMessage(message) : message;
  return { ...rest, envelope: { ...envelope, correlation_id: envelope?.correlation_id ?? freshId() } };
}

export function cancelOf(operation: string, cid: string): MessageInput {
  return { intent: 'cancel', operation, envelope: { correlation_id: cid } };
}

/**
 * The chunks of a stream until its chain ends otherwise: by a failure, which ends it at once, or by a plain answer to what turned out to be
 * no stream.
 *
 * @param end the message that ends the chain
 */
export async function* streamOf(
  stream: AsyncIterable<StreamChunk>,
  end: Promise<Message>,
): AsyncGenerator<StreamChunk, void, undefined> {
  const chunks = stream[Symbol.asyncIterator]();
  let isBegun = false;
  let over: IteratorResult<StreamChunk> | Promise<never> | undefined;
  let tell: (result: IteratorResult<StreamChunk> | Promise<never>) => void = () => {};
  const finish = (result: IteratorResult<StreamChunk> | Promise<never>): void => {
    over = result;
    tell(result);
  };
  // One listener for all chunks: one for each would be kept until the end.
  end.then(
    ({ intent }) => {
      if (intent === 'done' && !isBegun) finish({ done: true, value: undefined });
    },
    (thrown: unknown) => {
      // A connection that has ended is no end of the stream: what has come is read first, and may be all of it.
      if (thrown instanceof LinkError) return;
      const failed = Promise.reject<never>(thrown);
      failed.catch(() => undefined);
      finish(failed);
    },
  );
  try {
    for (;;) {
      const next = await (over ??
        new Promise<IteratorResult<StreamChunk>>((resolve, reject) => {
          tell = resolve;
          chunks.next().then(resolve, reject);
        }));
      if (next.done === true) return;
      isBegun = true;
      yield next.value;
    }
  } finally {
    void chunks.return?.();
  }
}
