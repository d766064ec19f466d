/** Laws of every binding: nothing but the dispatcher reaches a handler, and nothing reaches the dispatcher but whole packets. */
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { PacketAnswer } from '../../../src/aacp/bindings/http/index.js';
import { packetHash } from '../../../src/aacp/build/index.js';
import type { Dispatcher, Envelope } from '../../../src/aacp/dispatch/index.js';
import { memoryAudit } from '../../../src/aacp/dispatch/index.js';
import { printPacket, validatePacket } from '../../../src/aacp/index.js';
import { runs } from '../../helpers/runs.js';
import { ACK, freshEnvelope, guarded, PACKET, REFUSED } from './fixture.js';

/** One connection, over which any text can be sent as a packet. */
export interface Connection {
  readonly send: (text: string, envelope?: Partial<Envelope>) => Promise<PacketAnswer>;
  readonly close: () => Promise<void>;
}

export interface Binding {
  readonly name: string;
  readonly connect: (dispatcher: Dispatcher<unknown>, onError?: (thrown: unknown) => void) => Promise<Connection>;
}

const LOG = 'LOG|HR|return:AUD-Agent|p:2|aacp:1.1';
const DAY_MS = 86_400_000;

/** Envelopes that the replay guard rejects. */
const ENVELOPES: readonly (readonly [name: string, envelope: Partial<Envelope> | undefined, reason: string])[] = [
  ['no envelope', undefined, 'no-envelope'],
  ['no nonce', { sentAt: Date.now() }, 'bad-envelope'],
  ['no time', { nonce: 'a' }, 'bad-envelope'],
  ['a nonce that is too long', { nonce: 'n'.repeat(257), sentAt: Date.now() }, 'bad-envelope'],
  ['an old time', { nonce: 'b', sentAt: Date.now() - DAY_MS }, 'too-old'],
  ['a time in the future', { nonce: 'c', sentAt: Date.now() + DAY_MS }, 'too-new'],
];

export function testBinding(binding: Binding): void {
  const open = async (options: Parameters<typeof guarded>[0] = {}) => {
    const errors: unknown[] = [];
    const parts = guarded(options);
    const connection = await binding.connect(parts.dispatcher, (thrown) => errors.push(thrown));
    return { ...parts, ...connection, errors };
  };

  describe(`AACP over ${binding.name}`, () => {
    test('hands a packet over once it is recorded, and returns the packet of the handler', async () => {
      const { send, close, audit, handled } = await open();
      const { nonce, sentAt } = freshEnvelope();
      expect(await send(PACKET, { nonce, sentAt })).toEqual({
        ok: true,
        hash: packetHash(PACKET),
        packet: ACK,
        warnings: [],
      });
      expect(handled).toEqual([PACKET]);
      expect(audit.records().map((record) => [record.event, record.nonce])).toEqual([
        ['handed-over', nonce],
        ['done', nonce],
      ]);
      await close();
    });

    test.each(REFUSED)('refuses and records a text with %s', async (_, text, reason) => {
      const { send, close, audit, handled } = await open();
      expect(await send(text, freshEnvelope())).toMatchObject({ ok: false, reason });
      expect(handled).toEqual([]);
      expect(audit.records().map((record) => [record.event, record.reason])).toEqual([['refused', reason]]);
      await close();
    });

    test.each(ENVELOPES)('refuses a packet with %s', async (_, envelope, reason) => {
      const { send, close, handled } = await open();
      expect(await send(PACKET, envelope)).toMatchObject({ ok: false, reason });
      expect(handled).toEqual([]);
      await close();
    });

    test('handles a nonce once, even if it is sent 50 times at the same time', async () => {
      const { send, close, handled } = await open();
      const envelope = freshEnvelope();
      const answers = await Promise.all(Array.from({ length: 50 }, () => send(PACKET, envelope)));
      expect(handled).toHaveLength(1);
      const reasons = answers.map((answer) => (answer.ok ? 'handled' : answer.reason)).sort();
      expect(reasons).toEqual(['handled', ...Array(49).fill('repeated')]);
      await close();
    });

    test('reports the error of a handler to its owner, and only the code to the sender', async () => {
      const { send, close, errors } = await open();
      const answer = await send(LOG, freshEnvelope());
      expect(answer).toMatchObject({ ok: false, reason: 'failed', hash: packetHash(LOG) });
      expect(JSON.stringify(answer)).not.toContain('secret');
      expect(errors).toEqual([new Error('the secret of the handler')]);
      await close();
    });

    test('hands nothing over if the log fails, and the nonce can be used again', async () => {
      const log = memoryAudit();
      let isBroken = true;
      const append: typeof log.append = (entry) =>
        isBroken ? Promise.reject(new Error('disk full')) : log.append(entry);
      const { send, close, handled, errors } = await open({ audit: { append } });
      const envelope = freshEnvelope();
      expect(await send(PACKET, envelope)).toMatchObject({ ok: false, reason: 'no-audit' });
      expect(handled).toEqual([]);
      expect(errors).toEqual([new Error('disk full')]);
      isBroken = false;
      expect(await send(PACKET, envelope)).toMatchObject({ ok: true });
      await close();
    });

    test.each([
      ['undefined', undefined, { ok: true }],
      ['an object', { rows: [1, 'a', null] }, { ok: true, value: { rows: [1, 'a', null] } }],
      ['a text that is no packet', 'done', { ok: true, value: 'done' }],
      ['null', null, { ok: true, value: null }],
      ['a big integer', 1n, { ok: false, reason: 'bad-answer' }],
      ['a function', () => 1, { ok: false, reason: 'bad-answer' }],
      ['a packet that is not valid', { kind: 'packet', task: 'ACK', domain: 'HR', fields: [] }, { ok: false }],
    ])('answers if the handler returns %s', async (_, value, expected) => {
      const { send, close } = await open({ handlers: { '*|*': () => value } });
      const answer = await send(PACKET, freshEnvelope());
      expect(answer).toMatchObject(expected);
      if (answer.ok) expect('value' in answer).toBe(value !== undefined);
      await close();
    });

    describe('for any text', () => {
      let connection: Connection;
      let parts: ReturnType<typeof guarded>;
      const handedOver: string[] = [];
      beforeAll(async () => {
        parts = guarded({
          handlers: {
            '*|*': (packet, { hash }) => {
              // The log has the attempt when the handler is called.
              expect(parts.audit.records().at(-1)).toMatchObject({ event: 'handed-over', hash, verdict: 'valid' });
              handedOver.push(printPacket(packet));
            },
          },
        });
        connection = await binding.connect(parts.dispatcher);
      });
      afterAll(() => connection.close());

      test('a handler gets only what the validator accepts, recorded before', async () => {
        await fc.assert(
          fc.asyncProperty(anyText, async (text) => {
            const before = handedOver.length;
            const records = parts.audit.records().length;
            const answer = await connection.send(text, freshEnvelope());
            const { valid, packet } = validatePacket(text);
            const calls = handedOver.slice(before);
            if (answer.ok) {
              expect(valid).toBe(true);
              expect(packetHash(packet!)).toBe(answer.hash);
              expect(calls.map((call) => packetHash(call))).toEqual([answer.hash]);
            } else {
              expect(calls).toEqual([]);
            }
            const events = parts.audit.records().slice(records);
            expect(events.map(({ event }) => event)).toEqual(answer.ok ? ['handed-over', 'done'] : ['refused']);
          }),
          runs(60),
        );
      });
    });
  });
}

/** Packets, packets with one change, and other texts. Empty ones are no packets for some transports. */
const anyText = fc
  .oneof(
    fc.constantFrom(PACKET, ACK, LOG),
    fc
      .tuple(fc.constantFrom(PACKET, ACK, LOG), fc.nat(60), fc.nat(8), fc.string({ unit: 'grapheme', maxLength: 8 }))
      .map(([text, at, length, inserted]) => text.slice(0, at) + inserted + text.slice(at + length)),
    fc.tuple(fc.constantFrom(PACKET, ACK), fc.string({ unit: 'binary', maxLength: 20 })).map((both) => both.join('')),
    fc.string({ unit: 'binary', maxLength: 60 }),
  )
  // Over HTTP, a line end after the packet belongs to the body.
  .map((text) => text.replace(/[\r\n]+$/, ''))
  .filter((text) => text !== '');
