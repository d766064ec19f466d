/** Web pages as clients over server-sent events: a real browser, with its own `fetch`. */
import { afterEach, expect, test } from 'vitest';
import { createRuntime, type ListenHttpOptions, listenHttp } from '../../src/arcp/runtime/index.js';
import { chromium, chromiumHint, PAGE_MS, servePage } from '../helpers/chromium.js';
import { cuttingProxy } from '../helpers/cutting-proxy.js';
import type { Transcript } from './programs/browser-page.js';

const ending: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of ending.splice(0).toReversed()) await end();
});

const token = 'secret';
/** Texts of the event stream after which it is cut, in the middle of an event. */
const CUTS = ['"current":4', '"current":17', '"current":29'];

test.skipIf(chromium === undefined)(
  `a page in Chromium follows a job over lost event streams: nothing is missing or repeated${chromiumHint}`,
  { timeout: PAGE_MS },
  async () => {
    let calls = 0;
    const runtime = createRuntime().tool('count', { durable: true }, async ({ to }, { progress, stream }) => {
      calls++;
      const words = stream({ kind: 'event', name: 'words' });
      for (let n = 0; n < Number(to); n++) {
        await progress({ current: n });
        await words.write({ n });
      }
      await words.close();
      return to;
    });
    const listen = async (options: ListenHttpOptions): Promise<{ readonly url: string; readonly port: number }> => {
      const listener = await listenHttp(runtime, { port: 0, token, ...options });
      ending.push(listener.close);
      return listener;
    };
    const page = await servePage<Transcript>(new URL('programs/browser-page.ts', import.meta.url));
    ending.push(page.close);
    const { port } = await listen({ origins: [page.origin] });
    const { url: unlisted } = await listen({ origins: ['https://example.org'] });
    ending.push(() => runtime.close());
    const proxy = await cuttingProxy({
      target: port,
      cut: (data) => {
        const text = CUTS[proxy.cuts()]!;
        const at = data.indexOf(text);
        return at === -1 ? -1 : at + text.length;
      },
      times: CUTS.length,
    });
    ending.push(proxy.close);
    const url = `http://127.0.0.1:${proxy.port}/arcp`;
    const { progress, words, result, ids, ...rest } = await page.run({ url, unlisted, token });
    const numbers = Array.from({ length: 30 }, (_, n) => n);
    expect(progress).toEqual(numbers);
    expect(words).toEqual(numbers.map((n) => ({ n })));
    expect(result).toBe(30);
    expect(new Set(ids).size).toBe(ids.length);
    expect(rest).toEqual({ dials: 4, connections: 4, refusal: 'closed' });
    expect([proxy.cuts(), calls]).toEqual([CUTS.length, 1]);
  },
);
