/** The feed of an inspector: limits, positions, connections. */
import { describe, expect, test } from 'vitest';
import { Feed } from '../../src/inspector/feed.js';

const texts = (feed: Feed, after = 0): string[] => feed.after(after, 100).map(({ text }) => text);

function filled(feed: Feed, ...all: string[]): Feed {
  for (const text of all) feed.add({ side: 'log', session: '', text, t: 1 });
  return feed;
}

describe('a feed', () => {
  test('numbers its records, and returns those after a position', () => {
    const feed = filled(new Feed(), 'a', 'b', 'c');
    expect(texts(feed)).toEqual(['a', 'b', 'c']);
    expect(texts(feed, 1)).toEqual(['b', 'c']);
    expect(feed.after(0, 2)).toMatchObject([{ n: 1 }, { n: 2 }]);
    expect(texts(feed, 3)).toEqual([]);
  });

  test('removes the oldest records beyond its limits, and keeps the positions of the others', () => {
    const feed = new Feed({ maxRecords: 3 });
    for (let n = 0; n < 5000; n++) filled(feed, `m${n}`);
    expect({ last: feed.last, dropped: feed.dropped, kept: texts(feed, 10) }).toEqual({
      ...{ last: 5000, dropped: 4997 },
      kept: ['m4997', 'm4998', 'm4999'],
    });
    const short = filled(new Feed({ maxLength: 10 }), 'aaaa', 'bbbb', 'cccc', 'd'.repeat(50));
    expect(texts(short)).toEqual(['d'.repeat(50)]);
  });

  test('cuts long texts, but checks them whole', () => {
    const check = (text: string) => (text.length > 5 ? { code: 'long', message: `${text.length}` } : undefined);
    const feed = filled(new Feed({ maxTextLength: 4, check }), 'abcdefgh', 'ab');
    expect(feed.after(0, 2)).toEqual([
      { n: 1, t: 1, side: 'log', session: '', text: 'abcd', length: 8, verdict: { code: 'long', message: '8' } },
      { n: 2, t: 1, side: 'log', session: '', text: 'ab' },
    ]);
  });

  test('limits a batch by the length of its texts, but returns at least one record', () => {
    const feed = filled(new Feed(), 'x'.repeat(10), 'y'.repeat(10), 'z');
    expect(feed.after(0, 100, 5)).toHaveLength(1);
    expect(feed.after(0, 100, 15)).toHaveLength(2);
  });

  test('calls each listener until it is removed, also if another one throws', () => {
    const feed = new Feed();
    let calls = 0;
    const stop = feed.watch(() => calls++);
    filled(feed, 'a');
    stop();
    filled(feed, 'b');
    expect(calls).toBe(1);
  });
});

describe('a message', () => {
  test('is sent over its connection, and refused with the reason otherwise', async () => {
    const feed = new Feed({ now: () => 1 });
    const sent: string[] = [];
    const line = feed.open('websocket', (text, side) => {
      if (side === 'server') return 'wrong-side';
      sent.push(text);
      return undefined;
    });
    expect(await feed.send(line.session, 'client', 'a')).toBeUndefined();
    expect(await feed.send(line.session, 'server', 'b')).toBe('wrong-side');
    expect(await feed.send('c99', 'client', 'c')).toBe('unknown-connection');
    line.close('gone');
    line.close('twice');
    expect(await feed.send(line.session, 'client', 'd')).toBe('connection-closed');
    expect(sent).toEqual(['a']);
    expect(feed.after(0, 9).map(({ kind, text }) => [kind, text])).toEqual([
      ['opened', 'websocket'],
      ['closed', 'gone'],
    ]);
  });
});
