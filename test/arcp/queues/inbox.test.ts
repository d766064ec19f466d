/** Commands that wait in NATS JetStream. */
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, test } from 'vitest';
import { openNatsOutbox, serveNatsInbox } from '../../../src/arcp/queues/nats.js';
import { bearer, createRuntime, type Runtime } from '../../../src/arcp/runtime/index.js';
import { natsHint } from '../../helpers/message-queues.js';
import { type NatsWorld, natsWorld } from './nats.js';

const ending: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const end of ending.splice(0).toReversed()) await end();
});

async function world(): Promise<NatsWorld> {
  const made = await natsWorld();
  ending.push(made.remove);
  return made;
}

async function until(isSo: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await isSo())) await sleep(10);
}

/** A runtime whose tool notes its calls. */
function runtimeWith(effects: unknown[], principals: string[] = []): Runtime {
  const auth = bearer((token) => (token.startsWith('user-') ? { principal: token, trust: 'trusted' } : undefined));
  const runtime = createRuntime({ auth });
  runtime.tool('note', { durable: true }, ({ n }, { principal }) => {
    effects.push(n);
    principals.push(String(principal));
  });
  ending.push(() => runtime.close());
  return runtime;
}

const note = (n: unknown, id?: string) =>
  ({ type: 'tool.invoke', payload: { tool: 'note', arguments: { n } }, id }) as const;

describe.skipIf(natsHint !== '')(`commands that wait${natsHint}`, () => {
  test('are executed once when a runtime starts, for the principal of their token', async () => {
    const { connection, name, waiting, deadLetters } = await world();
    const outbox = await openNatsOutbox({ connection, name, token: 'user-1' });
    const answers: string[] = [];
    connection.subscribe(`arcp.${name}.answers.*`, {
      callback: (_, message) => void answers.push(message.json<{ type: string }>().type),
    });
    for (let n = 0; n < 10; n++) await outbox.enqueue(note(n, n === 9 ? 'again' : undefined));
    await outbox.enqueue(note(9, 'again'));
    const [effects, principals]: [unknown[], string[]] = [[], []];
    const inbox = await serveNatsInbox(runtimeWith(effects, principals), { connection, name });
    ending.push(inbox.close);
    await until(async () => (await waiting()) === 0 && answers.length === 10);
    await until(() => effects.length >= 10);
    expect(effects.toSorted()).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
    expect(new Set(principals)).toEqual(new Set(['user-1']));
    expect(new Set(answers)).toEqual(new Set(['job.accepted']));
    expect(await deadLetters()).toEqual([]);
  });

  test('are executed once although they are delivered again, to another runtime of the store', async () => {
    const { connection, name, waiting } = await world();
    const effects: unknown[] = [];
    const runtime = runtimeWith(effects);
    const outbox = await openNatsOutbox({ connection, name, token: 'user-1' });
    const inbox = await serveNatsInbox(runtime, { connection, name });
    ending.push(inbox.close);
    await outbox.enqueue(note('first', 'same'));
    await until(async () => (await waiting()) === 0);
    // A new stream does not know the id; the runtime does.
    await inbox.close();
    ending.pop();
    const { jetstreamManager } = await import('@nats-io/jetstream');
    await (await jetstreamManager(connection)).streams.delete(`arcp_${name}_inbox`);
    const later = await openNatsOutbox({ connection, name, token: 'user-1' });
    await later.enqueue(note('first', 'same'));
    expect(await waiting()).toBe(1);
    const next = await serveNatsInbox(runtime, { connection, name });
    ending.push(next.close);
    await until(async () => (await waiting()) === 0);
    await later.enqueue(note('second'));
    await until(() => effects.includes('second'));
    expect(effects).toEqual(['first', 'second']);
  });

  test('become dead letters with the reason if they are refused, and do not stop the others', async () => {
    const { connection, name, waiting, deadLetters } = await world();
    const [known, unknown] = await Promise.all([
      openNatsOutbox({ connection, name, token: 'user-1' }),
      openNatsOutbox({ connection, name, token: 'other' }),
    ]);
    connection.publish(`arcp.${name}.inbox`, 'no command');
    connection.publish(`arcp.${name}.inbox`, JSON.stringify({ command: { type: 'session.open' } }));
    // A principal in the body is not one in the token.
    await unknown.enqueue({ ...note(1), payload: { ...note(1).payload, principal: 'user-1' } });
    await known.enqueue({ type: 'tool.invoke', payload: { tool: 'nothing' } });
    await known.enqueue(note(2));
    const effects: unknown[] = [];
    const errors: unknown[] = [];
    const inbox = await serveNatsInbox(runtimeWith(effects), { connection, name, onError: (one) => errors.push(one) });
    ending.push(inbox.close);
    await until(async () => (await waiting()) === 0 && effects.length > 0);
    const letters = await deadLetters();
    expect(letters.map(({ reason }) => reason.code).toSorted()).toEqual([
      'INVALID_ARGUMENT',
      'INVALID_ARGUMENT',
      'NOT_FOUND',
      'UNAUTHENTICATED',
    ]);
    expect(letters.map(({ message }) => message)).toContain('no command');
    expect(effects).toEqual([2]);
    expect(errors).toHaveLength(4);
  });

  test('wait for another runtime while one shuts down, and become dead letters after several deliveries', async () => {
    const { connection, name, waiting, deadLetters } = await world();
    const outbox = await openNatsOutbox({ connection, name, token: 'user-1' });
    const draining = createRuntime({ auth: bearer(() => ({ principal: 'user-1', trust: 'trusted' })) });
    ending.push(() => draining.close());
    draining.tool('note', { durable: true }, () => {});
    await draining.drain();
    const first = await serveNatsInbox(draining, { connection, name, retryDelayMs: 20, maxDeliveries: 3 });
    ending.push(first.close);
    await outbox.enqueue(note(1));
    await until(async () => (await waiting()) === 0);
    expect(await deadLetters()).toMatchObject([{ deliveries: 3, reason: { code: 'UNAVAILABLE' } }]);
  });

  test('are stored in streams whose limits an operator has set, and in no others', async () => {
    const { connection, name, waiting } = await world();
    const { jetstreamManager } = await import('@nats-io/jetstream');
    const { streams } = await jetstreamManager(connection);
    const inbox = `arcp_${name}_inbox`;
    await openNatsOutbox({ connection, name });
    for (const stream of [inbox, `arcp_${name}_dead`]) await streams.update(stream, { max_bytes: 1_000_000 });
    const outbox = await openNatsOutbox({ connection, name, token: 'user-1' });
    await outbox.enqueue(note(1));
    expect(await waiting()).toBe(1);
    const effects: unknown[] = [];
    ending.push((await serveNatsInbox(runtimeWith(effects), { connection, name })).close);
    await until(() => effects.length === 1);
    expect((await streams.info(inbox)).config.max_bytes).toBe(1_000_000);

    const { connection: second, name: other } = await world();
    await streams.add({ name: `arcp_${other}_inbox`, subjects: [`other.${other}`] });
    await expect(openNatsOutbox({ connection: second, name: other })).rejects.toThrow('without the subject');
    await streams.update(`arcp_${other}_inbox`, { subjects: [`arcp.${other}.inbox`] });
    await expect(openNatsOutbox({ connection: second, name: other })).rejects.toThrow('its retention is not');
  });

  test('are checked before they are sent', async () => {
    const { connection, name, waiting } = await world();
    const outbox = await openNatsOutbox({ connection, name });
    const refused = (type: string, payload: object) =>
      expect(outbox.enqueue({ type: type as 'tool.invoke', payload: { ...payload } })).rejects.toMatchObject({
        code: 'INVALID_ARGUMENT',
      });
    await refused('session.open', {});
    await refused('tool.invoke', {});
    await refused('tool.invoke', { tool: 'note', mode: 'direct' });
    expect(await waiting()).toBe(0);
  });
});
