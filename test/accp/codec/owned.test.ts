/** Results and sessions do not share what either of them changes. */
import { expect, test } from 'vitest';
import { createCodec, createSession } from '../../../src/accp/codec/index.js';
import { estimateTokens, type TokenCounter } from '../../../src/tokens/counter.js';

test('a change of a received message does not reach the session', () => {
  const codec = createCodec();
  const [sender, receiver] = ['a', 'b'].map((agent) => createSession({ agent, id: 's' }));
  const { frames } = codec.encode({ intent: 'req', operation: 'plan', payload: { goal: 'launch' } }, sender!);
  const outcome = codec.decode(frames[0]!, receiver!);
  if (outcome.outcome !== 'message') throw new Error(outcome.outcome);
  const changed = outcome.message as { operation: string; payload: object };
  changed.operation = 'other';
  changed.payload = {};
  expect(receiver!.pendingRequests).toMatchObject([{ message: { operation: 'plan', payload: { goal: 'launch' } } }]);
});

test('the result of a checkpoint can be copied member by member', async () => {
  const codec = createCodec();
  const session = createSession({ agent: 'a', id: 's' });
  codec.encode({ intent: 'req', operation: 'plan', payload: { goal: 'launch' } }, session);
  const result = await codec.checkpoint(session);
  expect(structuredClone({ ...result })).toEqual({
    ...{ id: result.id, trigger: 'phase', summary: result.summary, facts: result.facts },
    ...{
      tokensBefore: result.tokensBefore,
      tokensAfter: result.tokensAfter,
      warmTokens: result.warmTokens,
      exact: false,
    },
  });
  expect(result.summary).not.toBe('');
});

test('a counter that becomes exact counts all parts of the next frame again', () => {
  let isLoaded = false;
  const counter: TokenCounter = {
    encoding: 'o200k_base',
    get exact() {
      return isLoaded;
    },
    count: (text) => (isLoaded ? 1 : estimateTokens(text)),
  };
  const codec = createCodec({ counter });
  const session = createSession({ agent: 'a', id: 's' });
  const message = { intent: 'req', operation: 'plan', payload: { goal: 'launch' } };
  expect(codec.encode(message, session).tokens.header).toBe(estimateTokens('@a>req'));
  isLoaded = true;
  expect(codec.encode(message, session).tokens).toEqual({ header: 1, body: 1, metadata: 1, total: 1, exact: true });
});
