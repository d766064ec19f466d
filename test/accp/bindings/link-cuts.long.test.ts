/** Links over a network that is cut again and again. */
import { expect, test } from 'vitest';
import { BINDINGS, openLinkFixture } from './links-fixture.js';

test.each(Object.keys(BINDINGS))('over %s, each request is answered, and was executed once', async (binding) => {
  const requested: unknown[] = [];
  const { connect, proxy } = await openLinkFixture(binding, ({ intent, operation, payload }) => {
    if (intent !== 'req') return null;
    requested.push(payload['n']);
    return { intent: 'done', operation, payload };
  });
  const link = await connect({ reconnect: { minDelayMs: 10, maxDelayMs: 50 } });
  const numbers = Array.from({ length: 200 }, (_, n) => n);
  const ask = async (n: number): Promise<unknown> => {
    await new Promise((resolve) => setTimeout(resolve, n * 20));
    if (n % 10 === 9) proxy.cut();
    return (await link.request({ intent: 'req', operation: 'x', payload: { n } })).payload['n'];
  };
  expect(await Promise.all(numbers.map(ask))).toEqual(numbers);
  expect(requested.sort((one, other) => Number(one) - Number(other))).toEqual(numbers);
});

test.each(Object.keys(BINDINGS))('over %s, so are many slow concurrent ones', async (binding) => {
  const requested: unknown[] = [];
  const { connect, proxy } = await openLinkFixture(binding, async ({ intent, operation, payload }) => {
    if (intent !== 'req') return null;
    requested.push(payload['n']);
    await new Promise((resolve) => setTimeout(resolve, (Number(payload['n']) * 37) % 100));
    return { intent: 'done', operation, payload };
  });
  const errors: unknown[] = [];
  const onError = (error: Error): unknown => errors.push((error as { code?: unknown }).code);
  const link = await connect({ reconnect: { minDelayMs: 10, maxDelayMs: 50 }, onError });
  const numbers = Array.from({ length: 400 }, (_, n) => n);
  const ask = async (n: number): Promise<unknown> => {
    await new Promise((resolve) => setTimeout(resolve, Math.floor(n / 40) * 200));
    if (n % 40 === 39) proxy.cut();
    return (await link.request({ intent: 'req', operation: 'x', payload: { n } })).payload['n'];
  };
  expect(await Promise.all(numbers.map(ask))).toEqual(numbers);
  expect(requested.sort((one, other) => Number(one) - Number(other))).toEqual(numbers);
  expect(errors.filter((code) => code !== 'unreachable')).toEqual([]);
});
