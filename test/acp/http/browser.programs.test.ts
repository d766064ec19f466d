/** Web pages as clients: a real browser, with its own `fetch` and WebSocket. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type AcpListener, type ListenAcpOptions, listenAcp } from '../../../src/acp/http/index.js';
import { chromium, chromiumHint, PAGE_MS, type Page, servePage } from '../../helpers/chromium.js';
import type { Attempt } from './programs/browser-page.js';
import { servePrompts, TURN } from './turn.js';

describe.skipIf(chromium === undefined)(`a page of another origin in Chromium${chromiumHint}`, () => {
  let page: Page<(string | string[])[]>;
  const servers: AcpListener[] = [];
  /** The transports of the connections that reached an agent. */
  let accepted: string[] = [];

  beforeAll(async () => {
    page = await servePage(new URL('programs/browser-page.ts', import.meta.url));
  });
  afterAll(async () => {
    await page.close();
    await Promise.all(servers.map((server) => server.close()));
  });

  async function listen(options: ListenAcpOptions): Promise<AcpListener> {
    const server = await listenAcp(
      (channel, { transport }) => {
        accepted.push(transport);
        servePrompts(channel);
      },
      { token: 'a+secret/=', ...options },
    );
    servers.push(server);
    return server;
  }

  const run = (attempts: readonly Attempt[]): Promise<(string | string[])[]> => {
    accepted = [];
    return page.run({ attempts });
  };

  test('has a turn over WebSocket and over HTTP, with updates and a permission', { timeout: PAGE_MS }, async () => {
    const server = await listen({ origins: [page.origin] });
    const urls = [server.ws, server.http];
    expect(await run(urls.map((url) => ({ url, token: 'a+secret/=' })))).toEqual([TURN, TURN]);
    expect(accepted).toEqual(['websocket', 'http']);
    expect(server.connections()).toBe(0);
  });

  test('is refused without the token, with another one, and if its origin is not listed', {
    timeout: PAGE_MS,
  }, async () => {
    const listed = await listen({ origins: [page.origin] });
    const unlisted = await listen({ origins: ['https://example.org', page.origin.replace('127.0.0.1', 'localhost')] });
    const attempts = [listed.ws, listed.http].flatMap((url) => [{ url }, { url, token: 'other' }]);
    const ofOther = [unlisted.ws, unlisted.http].map((url) => ({ url, token: 'a+secret/=' }));
    expect(await run([...attempts, ...ofOther])).toEqual(Array(6).fill('closed'));
    expect(accepted).toEqual([]);
  });
});
