/** Frames of one session that arrive in requests of their own and overtake each other (draft-benzing-accp-00, section 3.7). */
import { describe, expect, test } from 'vitest';
import { answersOf, endpointOf, peer } from './endpoint-peer.js';
import { codeOf } from './http-server.js';

const req = (operation: string) => ({ intent: 'req', operation });
const soon = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 0));

/** An endpoint that records the messages of its handler. */
function noting() {
  const received: string[] = [];
  const endpoint = endpointOf({
    handle: ({ operation, intent }) => {
      received.push(`${intent}:${operation}`);
      return intent === 'req' ? { intent: 'done', operation } : null;
    },
  });
  return { endpoint, received };
}

describe('a frame that arrives before those with lower numbers', () => {
  test('waits for them, and each is answered in its own request', async () => {
    const { endpoint, received } = noting();
    const { say } = peer();
    const operations = ['a', 'b', 'c', 'd', 'e'];
    const frames = operations.map((operation) => say(req(operation)));
    const answers = await Promise.all([3, 1, 4, 2, 0].map((at) => answersOf(endpoint, frames[at]!)));
    expect(received).toEqual(operations.map((operation) => `req:${operation}`));
    expect(answers.map(([answer]) => /^@server>done:(.)/.exec(answer!)?.[1])).toEqual(['d', 'b', 'e', 'c', 'a']);
    endpoint.close();
  });

  test('also waits if it arrives twice', async () => {
    const { endpoint, received } = noting();
    const { say } = peer();
    const [first, second] = [say(req('a')), say(req('b'))];
    const answers = await Promise.all([second, second, first].map((frame) => answersOf(endpoint, frame)));
    expect(received).toEqual(['req:a', 'req:b']);
    expect(answers.map(([answer]) => codeOf(answer!))).toEqual([undefined, 'E3002', undefined]);
    endpoint.close();
  });

  test('is rejected with E3003 if they do not arrive, and is processed when it is sent again', async () => {
    const { endpoint, received } = noting();
    const { say, session } = peer();
    await answersOf(endpoint, say(req('a')));
    say(req('lost'));
    const [report] = await answersOf(endpoint, say(req('b')));
    expect(received).toEqual(['req:a']);
    const outcome = endpoint.codec.decode(report!, session);
    expect(outcome).toMatchObject({ message: { payload: { code: 'E3003', expected: 2 } } });
    const again = outcome.outcome === 'message' ? outcome.replies : [];
    await Promise.all(again.map((frame) => answersOf(endpoint, frame)));
    expect(received).toEqual(['req:a', 'req:lost', 'req:b']);
    endpoint.close();
  });

  test('also waits in a process that was busy for seconds, which reads the frames of that time afterwards', async () => {
    const { endpoint, received } = noting();
    const { say } = peer();
    const [first, second] = [say(req('a')), say(req('b'))];
    const early = answersOf(endpoint, second);
    const end = performance.now() + 1200;
    while (performance.now() < end);
    // Timers run first.
    await soon();
    await answersOf(endpoint, first);
    expect((await early)[0]).toContain('>done:b');
    expect(received).toEqual(['req:a', 'req:b']);
    endpoint.close();
  });

  test('does not wait longer than its request, and then counts as if it had never arrived', async () => {
    const { endpoint, received } = noting();
    const { say } = peer();
    const [first, second] = [say(req('a')), say(req('b'))];
    const controller = new AbortController();
    const withdrawn = answersOf(endpoint, second, controller.signal);
    controller.abort();
    expect(await withdrawn).toEqual([]);
    await answersOf(endpoint, first);
    expect((await answersOf(endpoint, second))[0]).toContain('>done:b');
    expect(received).toEqual(['req:a', 'req:b']);
    endpoint.close();
  });

  test('does not wait behind a registry: the missing frames were lost', async () => {
    const { endpoint } = noting();
    const { say, session } = peer();
    say(req('lost'));
    let reports = 0;
    const early = answersOf(endpoint, say(req('a'))).then(() => reports++);
    const { frames } = endpoint.codec.announce(session);
    const announced = answersOf(endpoint, frames[0]!).then(() => reports++);
    await soon();
    expect(reports).toBe(2);
    await Promise.all([early, announced]);
    endpoint.close();
  });

  test.each([
    ['frames', 1025, ''],
    ['characters', 5, 'x'.repeat(1_000_000)],
  ])('waits with a limited number of other %s', async (_, count, text) => {
    const { endpoint } = noting();
    let settled = 0;
    const frame = (at: number): string => `@client>req:x{t:"${text}"}[mid:m${at},seq:${at},sid:sid1]`;
    const all = Array.from({ length: count }, (_item, at) => answersOf(endpoint, frame(at + 2)).then(() => settled++));
    await soon();
    expect(settled).toBe(count);
    await Promise.all(all);
    endpoint.close();
  });
});

describe('a registry with a number that has been used', () => {
  const codesOf = (answers: readonly string[]): unknown[] => answers.map(codeOf);

  test('is rejected with E3003 if it is late and the missing frames were sent again', async () => {
    const { endpoint } = noting();
    const { say, session } = peer();
    await answersOf(endpoint, say(req('a')));
    const late = endpoint.codec.announce(session).frames[0]!;
    const [report] = await answersOf(endpoint, say(req('b')));
    const outcome = endpoint.codec.decode(report!, session);
    const again = outcome.outcome === 'message' ? outcome.replies : [];
    const answers = await Promise.all(again.map((frame) => answersOf(endpoint, frame)));
    expect(codesOf(answers.flat())).not.toContain('E3003');
    expect(codesOf(await answersOf(endpoint, late))).toEqual(['E3003']);
    endpoint.close();
  });

  test('is rejected with E5001 if it belongs to another numbering, and does not use a number', async () => {
    const { endpoint } = noting();
    const { say, session } = peer();
    for (const frame of endpoint.codec.announce(session).frames) await answersOf(endpoint, frame);
    await answersOf(endpoint, say(req('a')));
    const { frames } = endpoint.codec.announce(peer().session);
    expect(codesOf(await answersOf(endpoint, frames[0]!))).toEqual(['E5001']);
    expect(codesOf(await answersOf(endpoint, frames[0]!.replace('@client', '@another')))).toEqual(['E5001']);
    const [answer] = await answersOf(endpoint, say(req('b')));
    expect(answer).toContain('>done:b');
    endpoint.close();
  });
});
