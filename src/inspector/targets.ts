/** Connections of the inspector to a server, over which its page sends messages. */
import type { Channel } from '../channels/channel.js';
import type { Feed } from './feed.js';
import { recordLines, tapChannel } from './tap.js';

/** Opens a connection whose messages are only recorded, and on which the page can send. @returns a function that closes it */
export async function openRecorded(
  dial: () => Promise<Channel>,
  feed: Feed,
  about: string,
): Promise<() => Promise<void>> {
  const channel = tapChannel(await dial(), feed, about, 'server');
  channel.start({ text: ignore, invalid: ignore, tooLong: ignore, ended: ignore });
  return async () => channel.destroy();
}

/** Adds a connection of the page to an endpoint of ACCP over HTTP. Each frame is one request. @param token a bearer token, or `undefined` */
export function addHttpFrames(url: string, feed: Feed, about: string, token: string | undefined): void {
  const line = feed.open(
    about,
    async (text, side) => {
      if (side === 'server') return 'wrong-side';
      feed.own('http', 'client', text);
      const authorization = token === undefined ? {} : { authorization: `Bearer ${token}` };
      try {
        const headers = { 'content-type': 'application/accp', ...authorization };
        const response = await fetch(url, { method: 'POST', body: text, headers });
        const answer = await response.text();
        recordLines(line, 'server', answer);
        if (!response.ok && answer === '') line.note('server', `status ${response.status}`);
        return undefined;
      } catch (thrown) {
        line.note('server', String(thrown));
        return 'unreachable';
      }
    },
    'http',
  );
}

function ignore(): void {}
