/** `decode(encode(m))` is `m`, or encoding refuses `m` and says where. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { AccpError, memoryStore, type TextPolicy } from '../../../src/accp/codec/index.js';
import { differences, ends, normalized, pass } from './exchange.js';
import { payloads } from './payloads.js';

export const POLICIES: readonly TextPolicy[] = ['transliterate', 'reject', 'externalize'];

/** @param numRuns payloads for each policy */
export function testRoundTrips(numRuns: number): void {
  describe('arbitrary payloads', () => {
    test.each(POLICIES)('come back under "%s", except for reported losses', (text) => {
      let refused = 0;
      fc.assert(
        fc.property(payloads, (payload) => {
          const both = { store: memoryStore(), shared: text === 'externalize' };
          const line = ends({ codec: { text }, both });
          const message = { agent: 'a', intent: 'ack', operation: 'x', payload };
          try {
            const { received, losses } = pass(message, line);
            const changed = differences(normalized(message), received.message.payload);
            expect(new Set(losses.filter(({ kind }) => kind !== 'renamed').map(({ path }) => path))).toEqual(
              new Set(changed),
            );
          } catch (thrown) {
            if (!(thrown instanceof AccpError)) throw thrown;
            expect([thrown.code, thrown.path]).toEqual(['E1004', expect.stringMatching(/^payload[.[]/)]);
            // What was refused has left no trace.
            refused++;
            expect(pass({ intent: 'ack', operation: 'x', payload: { n: 1 } }, line).received.message.payload).toEqual({
              n: 1,
            });
          }
        }),
        { numRuns },
      );
      expect(refused).toBeLessThan(numRuns);
    });
  });
}
