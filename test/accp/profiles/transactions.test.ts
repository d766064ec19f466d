/** One chain of requests is about one transaction (draft-benzing-accp-00, section 10.3), whatever else it asks for. */
import { describe, expect, test } from 'vitest';
import type { MessageInput } from '../../../src/accp/codec/index.js';
import { accepted, endpoints, rejected } from '../codec/endpoints.js';

const envelope = { correlation_id: 'c1' };

function transaction(id: string): MessageInput {
  return {
    intent: 'req',
    operation: 'transaction',
    schema: 'TX',
    payload: { transaction_id: id, amount: 1.5 },
    envelope,
  };
}

/** A request of another kind, which has a member of the same name. */
const TASK: MessageInput = {
  intent: 'req',
  operation: 'schedule',
  schema: 'TA',
  payload: { task: 'ship', transaction_id: 't9' },
  envelope,
};

describe('a second transaction under one correlation_id', () => {
  test('is not sent, not even after a request of another kind', () => {
    const { codec, a, b } = endpoints();
    for (const message of [transaction('t1'), TASK]) {
      accepted(codec.decode(codec.encode(message, a).frames[0]!, b));
    }
    for (const _ of [1, 2]) {
      expect(() => codec.encode(transaction('t2'), a)).toThrow(
        expect.objectContaining({ code: 'E1004', path: 'payload.transaction_id' }),
      );
    }
  });

  test('is rejected by the receiver', () => {
    const { codec, a, b } = endpoints();
    accepted(codec.decode(codec.encode(transaction('t1'), a).frames[0]!, b));
    accepted(codec.decode(codec.encode(TASK, a).frames[0]!, b));
    const third = codec.encode(transaction('t1'), a).frames[0]!;
    const { error } = rejected(codec.decode(third.replace('t1', 't2'), b));
    expect(error).toMatchObject({ code: 'E1004', path: 'payload.transaction_id' });
  });

  test('may follow a request whose member of that name is not a transaction', () => {
    const { codec, a, b } = endpoints();
    accepted(codec.decode(codec.encode(TASK, a).frames[0]!, b));
    accepted(codec.decode(codec.encode(transaction('t1'), a).frames[0]!, b));
  });
});
