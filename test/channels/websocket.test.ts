import fc from 'fast-check';
import { expect, test } from 'vitest';
import { closeWebSocket } from '../../src/channels/websocket.js';
import { runs } from '../helpers/runs.js';

test('the reason of a close is truncated to 123 bytes at a character boundary', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 200 }), (reason) => {
      let sent = '';
      const close = (_: unknown, text = ''): void => {
        sent = text;
      };
      closeWebSocket({ close }, 1000, reason);
      expect(reason.startsWith(sent)).toBe(true);
      expect(Buffer.byteLength(sent)).toBeLessThanOrEqual(123);
      const next = reason.slice(sent.length, sent.length + 2);
      if (next !== '') expect(Buffer.byteLength(sent + next)).toBeGreaterThan(121);
    }),
    runs(300),
  );
});
