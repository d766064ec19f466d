/** Replays of recorded conversations. */
import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { type ReplayStep, replayLog } from '../../src/arcp/conformance/index.js';
import { type Envelope, parseEnvelope } from '../../src/arcp/index.js';
import { createRuntime, type Runtime } from '../../src/arcp/runtime/index.js';
import type { Channel } from '../../src/channels/channel.js';
import { memoryChannels } from '../../src/channels/memory.js';
import type { Scenario } from '../examples/arcp/stage.js';
import { scenario as refund } from '../examples/customer-support-refund.js';
import { scenario as incident } from '../examples/incident-response.js';
import { scenario as review } from '../examples/local-code-review.js';

const written = (name: string): Envelope[] =>
  readFileSync(`test/examples/${name}.jsonl`, 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => parseEnvelope(line));

async function replayed(
  log: readonly Envelope[],
  furnish: (runtime: Runtime) => void,
  timeoutMs = 5000,
): Promise<ReplayStep[]> {
  const runtime = createRuntime();
  furnish(runtime);
  const dial = (): Channel => {
    const [here, there] = memoryChannels();
    void runtime.accept(there);
    return here;
  };
  const steps: ReplayStep[] = [];
  for await (const step of replayLog(dial, log, { timeoutMs })) steps.push(step);
  await runtime.close();
  return steps;
}

const odd = (steps: readonly ReplayStep[]): ReplayStep[] =>
  steps.filter(({ kind }) => kind !== 'sent' && kind !== 'same');

describe('a replayed conversation', () => {
  test.each<readonly [string, Scenario]>([
    ['customer-support-refund', refund],
    ['local-code-review', review],
    ['incident-response', incident],
  ])('%s has the same messages', async (name, { setUp }) => {
    const log = written(name);
    const steps = await replayed(log, setUp);
    expect(odd(steps)).toEqual([]);
    expect(steps.length).toBeGreaterThan(10);
  });

  test('reports different, missing and new messages', async () => {
    const log = written('customer-support-refund');
    const steps = await replayed(
      log,
      (runtime) =>
        runtime
          .tool('orders.lookup', { description: 'Looks an order up' }, async (_, { log: say }) => {
            await say('info', 'looking');
            return { customer: 'Eve', total: 42 };
          })
          .tool('orders.refund', { durable: true }, () => 'refused'),
      50,
    );
    const kinds = new Set(steps.map(({ kind }) => kind));
    expect(kinds).toEqual(new Set(['sent', 'same', 'different', 'missing', 'new']));
    expect(steps).toContainEqual(
      expect.objectContaining({ kind: 'different', reason: 'payload.result.customer is "Eve" instead of "Ada"' }),
    );
  });

  test('must contain a message of a client', async () => {
    const steps = replayLog(() => Promise.reject(new Error('not asked')), []);
    await expect(steps.next()).rejects.toThrow(TypeError);
  });
});
