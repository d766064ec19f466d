import type { Client as Client2 } from '@modelcontextprotocol/client';
import type { Client as Client1 } from '@modelcontextprotocol/sdk/client/index.js';
import { afterEach, describe, expect, expectTypeOf, test, vi } from 'vitest';
import { openClient } from '../../../src/arcp/client/client.js';
import type { Client, ClientOptions } from '../../../src/arcp/client/index.js';
import type { ArcpError, Envelope } from '../../../src/arcp/index.js';
import { type McpClient, type WrapMcpOptions, wrapMcp } from '../../../src/arcp/mcp/index.js';
import { createRuntime, memoryStore, type Runtime, type RuntimeOptions } from '../../../src/arcp/runtime/index.js';
import type { ArcpStore } from '../../../src/arcp/store/store.js';
import { memoryChannels } from '../../../src/channels/memory.js';
import { deferred } from '../runtime/wire.js';
import { type Handlers, type McpPair, rpcError, WIRINGS } from './wirings.js';

/** Machines that run tests can be slow. */
const PATIENT = { timeout: 20_000 };
const ending: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const end of ending.splice(0).toReversed()) await end();
});

function started(options: RuntimeOptions = {}): Runtime {
  const runtime = createRuntime(options);
  ending.push(() => runtime.close());
  return runtime;
}

async function opened(runtime: Runtime, options: ClientOptions = {}): Promise<Client> {
  const client = await openClient(() => {
    const [here, there] = memoryChannels();
    void runtime.accept(there);
    return here;
  }, options);
  ending.push(() => client.disconnect());
  return client;
}

const toolNames = async (runtime: Runtime): Promise<readonly string[]> =>
  (await opened(runtime)).session.tools!.map(({ name }) => name);

const failureOf = (promise: Promise<unknown>): Promise<ArcpError> =>
  promise.then(
    (value) => {
      throw new Error(`It did not fail but returned ${JSON.stringify(value)}`);
    },
    (error) => error as ArcpError,
  );

const ANY = { type: 'object' as const };
const tool = (name: string, annotations?: object) => ({ name, inputSchema: ANY, ...(annotations && { annotations }) });
const text = (of: string) => ({ content: [{ type: 'text', text: of }] });

test('clients of both lines of the SDK have the type of a client', () => {
  expectTypeOf<Client1>().toExtend<McpClient>();
  expectTypeOf<Client2>().toExtend<McpClient>();
});

describe.each(WIRINGS)('with $name', ({ connect }) => {
  async function wrapped(handlers: Handlers, options?: WrapMcpOptions, runtimeOptions?: RuntimeOptions) {
    const pair = await connect(handlers);
    ending.push(() => pair.client.close());
    const runtime = started(runtimeOptions);
    const server = await wrapMcp(runtime, pair.client, options);
    return { pair, runtime, server };
  }

  describe('lists', () => {
    const pages = (next: (cursor: number) => unknown): Handlers => ({
      'prompts/list': ({ params: { cursor = '0' } }) => ({
        prompts: [{ name: `p${String(cursor)}` }],
        nextCursor: next(Number(cursor)),
      }),
      'tools/list': ({ params: { cursor = '0' } }) => ({
        tools: [tool(`t${String(cursor)}`)],
        nextCursor: next(Number(cursor)),
      }),
    });

    test('are read to their last page', async () => {
      const { server, runtime } = await wrapped(pages((at) => (at < 4 ? String(at + 1) : undefined)));
      const all = [0, 1, 2, 3, 4];
      const names = [
        ...all.map((n) => `t${n}`),
        'resources/read',
        'resources/subscribe',
        ...all.map((n) => `prompts/p${n}`),
      ];
      expect(server.names).toEqual(names);
      expect(await toolNames(runtime)).toEqual(names);
    });

    test.each([
      ['repeat', (at: number) => String((at + 1) % 3)],
      ['do not end', (at: number) => String(at + 1)],
    ])('whose pages %s are refused, and nothing stays registered', async (_, next) => {
      const pair = await connect(pages(next));
      ending.push(() => pair.client.close());
      const runtime = started();
      await expect(wrapMcp(runtime, pair.client)).rejects.toMatchObject({ code: 'INTERNAL' });
      expect(await toolNames(runtime)).toEqual([]);
    });

    test('change while the runtime runs: tools are added, removed and replaced', async () => {
      let tools = [tool('stays'), tool('goes'), { ...tool('changes'), description: 'Old' }];
      const { pair, runtime, server } = await wrapped({
        'tools/list': () => ({ tools }),
        'tools/call': ({ params }) => text(String(params['name'])),
      });
      const heard: unknown[] = [];
      const client = await opened(runtime, {
        onMessage: ({ type, payload }: Envelope) => type === 'event.emit' && heard.push(payload),
      });
      tools = [tool('stays'), { ...tool('changes'), description: 'New' }, tool('comes')];
      await pair.notify('notifications/tools/list_changed');
      await expect.poll(() => server.names, PATIENT).toContain('comes');
      await client.ping();
      expect(heard).toEqual(
        [{ removed: 'goes' }, { removed: 'changes' }, { added: 'changes' }, { added: 'comes' }].map((change) => ({
          name: 'arcp.inventory.changed',
          attributes: Object.fromEntries(Object.entries(change).map(([how, name]) => [how, [{ kind: 'tool', name }]])),
        })),
      );
      expect(await client.invoke('comes').result()).toEqual(text('comes'));
      expect((await failureOf(client.invoke('goes').result())).code).toBe('NOT_FOUND');
      const { tools: now } = (await opened(runtime)).session;
      expect(now!.find(({ name }) => name === 'changes')).toMatchObject({ description: 'New' });
    });

    test('that change often are not read as often', async () => {
      let reads = 0;
      const { pair, server } = await wrapped({ 'tools/list': () => ({ tools: [tool(`version-${++reads}`)] }) });
      const changes = 100;
      await Promise.all(Array.from({ length: changes }, () => pair.notify('notifications/tools/list_changed')));
      await expect.poll(() => server.names[0], PATIENT).not.toBe('version-1');
      await server.refresh();
      expect(server.names[0]).toBe(`version-${reads}`);
      expect(reads).toBeLessThan(changes / 2);
    });

    test('of resources and prompts change, too', async () => {
      let isLate = false;
      const { pair, server } = await wrapped({
        'resources/list': () => ({ resources: isLate ? [{ uri: 'a:1', name: 'one' }] : [] }),
        'prompts/list': () => ({ prompts: isLate ? [] : [{ name: 'early' }] }),
      });
      expect(server.names).toEqual(['resources/read', 'resources/subscribe', 'prompts/early']);
      isLate = true;
      await pair.notify('notifications/resources/list_changed');
      await pair.notify('notifications/prompts/list_changed');
      await expect
        .poll(() => server.names, PATIENT)
        .toEqual(['resources/read', 'resources/subscribe', 'resources/a:1']);
    });

    test('that fail to be read again are reported, and stay as they were', async () => {
      let isBroken = false;
      const errors: unknown[] = [];
      const { pair, server } = await wrapped(
        {
          'tools/list': () => {
            if (isBroken) throw rpcError(-32603, 'Broken');
            return { tools: [tool('kept')] };
          },
        },
        { onError: (thrown) => errors.push(thrown) },
      );
      isBroken = true;
      await pair.notify('notifications/tools/list_changed');
      await expect.poll(() => errors, PATIENT).toMatchObject([{ code: 'INTERNAL' }]);
      expect(server.names).toContain('kept');
    });
  });

  describe('names', () => {
    test('have the prefix, and are removed with the server', async () => {
      const { runtime, server } = await wrapped(
        { 'tools/list': () => ({ tools: [tool('echo')] }), 'tools/call': () => text('hi') },
        { prefix: 'demo.', tools: { isPublic: true } },
      );
      runtime.tool('own', {}, () => 1);
      expect(server.names).toEqual(['demo.echo', 'demo.resources/read', 'demo.resources/subscribe']);
      const client = await opened(runtime, { trust: 'untrusted' });
      expect(await client.invoke('demo.echo').result()).toEqual(text('hi'));
      await server.remove();
      expect(await toolNames(runtime)).toEqual(['own']);
    });

    test('that are taken are refused, and the client has its own handlers again', async () => {
      const pair = await connect({ 'tools/list': () => ({ tools: [tool('free'), tool('taken')] }) });
      ending.push(() => pair.client.close());
      const runtime = started().tool('taken', {}, () => 1);
      const onclose = (): void => undefined;
      pair.client.onclose = onclose;
      await expect(wrapMcp(runtime, pair.client)).rejects.toThrow(TypeError);
      expect(await toolNames(runtime)).toEqual(['taken']);
      expect(pair.client.onclose).toBe(onclose);
    });
  });

  describe('names that are taken when lists are read again', () => {
    /** A server with a tool and a prompt, which has more of them later. */
    async function growing() {
      let isGrown = false;
      let resources = [{ uri: 'a:1', name: 'one' }];
      const errors: unknown[] = [];
      const { pair, runtime, server } = await wrapped(
        {
          'tools/list': () => ({ tools: isGrown ? [tool('taken'), tool('late')] : [tool('early')] }),
          'tools/call': () => text('done'),
          'resources/list': () => ({ resources }),
          'prompts/list': () => {
            if (resources.length === 0) throw rpcError(-32603, 'Broken');
            return { prompts: isGrown ? [{ name: 'taken' }, { name: 'late' }] : [] };
          },
        },
        { onError: (thrown) => errors.push(thrown) },
      );
      runtime.tool('taken', {}, () => 'own').tool('prompts/taken', {}, () => 'own');
      const names = (...ofTools: readonly string[]) => [...ofTools, 'resources/read', 'resources/subscribe'];
      const grow = () => {
        isGrown = true;
      };
      const breakPrompts = () => {
        resources = [];
      };
      return { pair, runtime, server, errors, names, grow, breakPrompts };
    }
    const collision = (...names: readonly string[]) => ({
      ...{ code: 'ALREADY_EXISTS', retryable: false, details: { names } },
      message: expect.stringContaining(names.map((name) => JSON.stringify(name)).join(', ')) as string,
    });

    test('do not affect the others, and are one error', async () => {
      const { runtime, server, errors, names, grow } = await growing();
      grow();
      await server.refresh();
      expect(server.names).toEqual([...names('late'), 'resources/a:1', 'prompts/late']);
      expect(errors).toMatchObject([collision('taken', 'prompts/taken')]);
      const client = await opened(runtime);
      expect(await client.invoke('late').result()).toEqual(text('done'));
      expect(await client.invoke('taken').result()).toBe('own');
    });

    test('are reported again only if they were free in between', async () => {
      const { pair, runtime, server, errors, grow } = await growing();
      grow();
      await server.refresh();
      await server.refresh();
      expect(errors).toHaveLength(1);
      runtime.remove('taken');
      await server.refresh();
      expect(errors).toHaveLength(1);
      expect(server.names).toContain('taken');
      await server.remove();
      await pair.notify('notifications/tools/list_changed');
      expect(await toolNames(runtime)).toEqual(['prompts/taken']);
    });

    test('are reported after a notification, too', async () => {
      const { pair, server, errors, grow } = await growing();
      grow();
      await pair.notify('notifications/tools/list_changed');
      await expect.poll(() => server.names, PATIENT).toContain('late');
      expect(errors).toMatchObject([collision('taken')]);
    });

    test('and nothing changes if one of the lists cannot be read', async () => {
      const { server, errors, names, grow, breakPrompts } = await growing();
      const before = server.names;
      expect(before).toEqual([...names('early'), 'resources/a:1']);
      grow();
      breakPrompts();
      await expect(server.refresh()).rejects.toMatchObject({ code: 'INTERNAL' });
      expect(server.names).toEqual(before);
      expect(errors).toEqual([]);
    });
  });

  describe('a call', () => {
    const calls = (call: Handlers[string], annotations?: object): Handlers => ({
      'tools/list': () => ({ tools: [tool('work', annotations)] }),
      'tools/call': call,
    });

    test('passes the arguments on, and returns the result unchanged', async () => {
      const structuredContent = { n: 1, nested: [null, { a: 'b' }] };
      const { runtime } = await wrapped(
        calls(({ params }) => ({ ...text(JSON.stringify(params['arguments'])), structuredContent, _meta: { x: 1 } })),
      );
      const client = await opened(runtime);
      const args = { list: [1, 'two'], deep: { er: true } };
      expect(await client.invoke('work', args).result()).toEqual({
        ...text(JSON.stringify(args)),
        structuredContent,
        _meta: { x: 1 },
      });
    });

    test('that reports an error fails its job, with its content', async () => {
      const failure = {
        content: [
          { type: 'text', text: 'No' },
          { type: 'text', text: 'way' },
        ],
        isError: true,
      };
      const { runtime } = await wrapped(calls(() => ({ ...failure, structuredContent: { reason: 7 } })));
      const client = await opened(runtime);
      expect(await failureOf(client.invoke('work').result())).toMatchObject({
        code: 'TOOL_ERROR',
        message: 'No\nway',
        retryable: false,
        details: { content: failure.content, structuredContent: { reason: 7 } },
      });
    });

    test.each([
      [-32602, 'INVALID_ARGUMENT'],
      [-32601, 'NOT_FOUND'],
      [-32603, 'INTERNAL'],
      [-32002, 'NOT_FOUND'],
      [-32042, 'UNKNOWN'],
    ])('that the server refuses with %i fails with %s', async (number, code) => {
      const { runtime } = await wrapped(
        calls(() => {
          throw rpcError(number, 'Refused', { because: 1 });
        }),
      );
      const client = await opened(runtime);
      expect(await failureOf(client.invoke('work').result())).toMatchObject({
        ...{ code, retryable: false },
        details: { json_rpc_code: number, data: { because: 1 } },
      });
    });

    test.each([
      ['job', undefined],
      ['direct call', 'direct' as const],
    ])('is cancelled with its %s', async (_, mode) => {
      const begun = deferred();
      const ended = deferred();
      const { runtime } = await wrapped(
        calls(async ({ signal }) => {
          signal.addEventListener('abort', () => ended.resolve());
          begun.resolve();
          await ended.promise;
          return text('too late');
        }),
      );
      const client = await opened(runtime);
      const call = client.invoke('work', {}, { mode });
      await begun.promise;
      await call.cancel();
      expect((await failureOf(call.result())).code).toBe('CANCELLED');
      // The server has been informed.
      await ended.promise;
    });

    test('passes its trace on to the server', async () => {
      const { runtime } = await wrapped(
        calls(({ params }) => text(String((params['_meta'] as { traceparent?: string }).traceparent))),
      );
      const traceId = '0af7651916cd43dd8448eb211c80319c';
      const client = await opened(runtime);
      expect(await client.invoke('work', {}, { traceId }).result()).toEqual(
        text(expect.stringMatching(`^00-${traceId}-[0-9a-f]{16}-01$`) as string),
      );
    });

    test('is direct if the options say so', async () => {
      const { runtime } = await wrapped(
        calls(() => text('now')),
        { durable: false },
      );
      const call = (await opened(runtime)).invoke('work');
      expect(await call.accepted).toBeUndefined();
      expect(await call.result()).toEqual(text('now'));
    });

    test('ends with the timeout of its job', async () => {
      const { runtime } = await wrapped(calls(() => new Promise(() => {})));
      const client = await opened(runtime);
      expect(await failureOf(client.invoke('work', {}, { timeoutMs: 20 }).result())).toMatchObject({
        code: 'DEADLINE_EXCEEDED',
      });
    });

    test.each([
      ['supports streams', {}, false],
      ['supports no binary streams', { binary_streams: false }, true],
      ['supports no streams', { streaming: false, binary_streams: false }, true],
    ])('returns large data in the result only if the client that %s cannot stream them', async (_, lacks, isInline) => {
      const data = Buffer.alloc(300_000, 7).toString('base64');
      const { runtime } = await wrapped(calls(() => ({ content: [{ type: 'image', mimeType: 'image/png', data }] })));
      const capabilities = { streaming: true, binary_streams: true, durable_jobs: true, ...lacks };
      const call = (await opened(runtime, { capabilities })).invoke<{ content: object[] }>('work');
      const stream = call.stream();
      const { content } = await call.result();
      expect(content[0]).toEqual(
        isInline
          ? { type: 'image', mimeType: 'image/png', data }
          : { type: 'image', mimeType: 'image/png', _meta: { 'arcp/stream_id': expect.any(String) } },
      );
      let size = 0;
      for await (const chunk of stream) size += (chunk as Uint8Array).length;
      expect(size).toBe(isInline ? 0 : 300_000);
    });
  });

  describe('of which nothing is heard', () => {
    const idleTimeoutMs = 1000;

    /** Calls a tool that reports progress when the returned function is called, and returns when `finish` is. */
    async function called(annotations?: object) {
      const begun = deferred<unknown>();
      const finished = deferred();
      const { pair, runtime } = await wrapped(
        {
          'tools/list': () => ({ tools: [tool('work', annotations)] }),
          'tools/call': async ({ params }) => {
            begun.resolve((params['_meta'] as { progressToken: unknown }).progressToken);
            await finished.promise;
            return text('done');
          },
        },
        { idleTimeoutMs },
      );
      const client = await opened(runtime);
      vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
      const result = client.invoke('work', {}, { mode: 'direct' }).result();
      result.catch(() => undefined);
      const progressToken = await begun.promise;
      const reportProgress = (progress: number) => pair.notify('notifications/progress', { progressToken, progress });
      return { result, reportProgress, finish: finished.resolve };
    }

    afterEach(() => void vi.useRealTimers());

    test.each([
      ['', undefined, false],
      [', retryably if the tool is idempotent', { idempotentHint: true }, true],
    ])('ends with an unknown outcome%s', async (_, annotations, retryable) => {
      const { result } = await called(annotations);
      await vi.advanceTimersByTimeAsync(idleTimeoutMs);
      expect(await failureOf(result)).toMatchObject({
        ...{ code: 'ABORTED', retryable, details: { outcome: 'unknown', idle_timeout_ms: idleTimeoutMs } },
        message: expect.stringContaining('idleTimeoutMs') as string,
      });
    });

    test('continues as long as it reports progress', async () => {
      const { result, reportProgress, finish } = await called();
      for (let progress = 1; progress <= 5; progress++) {
        await vi.advanceTimersByTimeAsync(idleTimeoutMs - 1);
        await reportProgress(progress);
      }
      finish();
      expect(await result).toEqual(text('done'));
    });

    test('is refused with an invalid timeout', async () => {
      const pair = await connect({});
      ending.push(() => pair.client.close());
      await expect(wrapMcp(started(), pair.client, { idleTimeoutMs: 0 })).rejects.toThrow(
        'idleTimeoutMs must be a positive number of milliseconds or Infinity; got 0',
      );
    });
  });

  describe('after a lost attempt', () => {
    /** Loses the worker of a job during its call, and continues it in another runtime. */
    async function loseAttempt(annotations: object | undefined, lose: (runtime: Runtime) => Promise<void>) {
      let count = 0;
      const begun = deferred();
      const handlers: Handlers = {
        'tools/list': () => ({ tools: [tool('work', annotations)] }),
        'tools/call': () => {
          count++;
          begun.resolve();
          return count === 1 ? new Promise(() => {}) : text(`call ${count}`);
        },
      };
      const shared = memoryStore();
      ending.push(() => shared.close());
      const store = { ...shared, close: async () => {} } as ArcpStore;
      const options = { store, workers: { leaseMs: 60 } };
      const first = await wrapped(handlers, {}, options);
      const client = await opened(first.runtime);
      const jobId = (await client.invoke('work').accepted)!;
      await begun.promise;
      await lose(first.runtime);
      const second = await wrapped(handlers, {}, options);
      const result = (await opened(second.runtime)).job(jobId).result();
      return { outcome: await result.catch((thrown: ArcpError) => thrown), calls: () => count };
    }

    const crash = (runtime: Runtime): Promise<void> => runtime.close();
    const drain = (runtime: Runtime): Promise<void> => runtime.drain(0);

    test.each([
      ['crash', crash, undefined],
      ['crash', crash, { destructiveHint: false, idempotentHint: false }],
      ['drain', drain, undefined],
    ])('by a %s, a tool is not called again, and the job fails', async (_, lose, annotations) => {
      const { outcome, calls } = await loseAttempt(annotations, lose);
      expect(outcome).toMatchObject({ code: 'ABORTED', retryable: false, details: { outcome: 'unknown' } });
      expect(calls()).toBe(1);
    });

    test.each([
      ['crash', crash, { idempotentHint: true }],
      ['crash', crash, { readOnlyHint: true }],
      ['drain', drain, { idempotentHint: true }],
    ])('by a %s, a tool that is idempotent or read-only is called again', async (_, lose, annotations) => {
      const { outcome, calls } = await loseAttempt(annotations, lose);
      expect(outcome).toEqual(text('call 2'));
      expect(calls()).toBe(2);
    });
  });

  describe('a call that is a task of the server', () => {
    const NO_LIMIT = {
      ttl: null,
      pollInterval: 1,
      createdAt: '2026-01-01T00:00:00Z',
      lastUpdatedAt: '2026-01-01T00:00:00Z',
    };

    /** A server whose tool only runs as a task. Its requests are noted. */
    function tasked(
      result: (taskId: string) => unknown,
      execution = { taskSupport: 'required' },
      annotations?: object,
    ) {
      const requests: string[] = [];
      const waiting = deferred();
      let tasks = 0;
      const handlers: Handlers = {
        'tools/list': () => ({ tools: [{ ...tool('work', annotations), execution }] }),
        'tools/call': ({ params }) => {
          requests.push(params['task'] === undefined ? 'call' : 'task');
          if (params['task'] === undefined) return text('no task');
          return { task: { ...NO_LIMIT, taskId: `task-${++tasks}`, status: 'working' } };
        },
        'tasks/result': ({ params: { taskId } }) => {
          requests.push(`result ${String(taskId)}`);
          waiting.resolve();
          return result(String(taskId));
        },
        'tasks/cancel': ({ params: { taskId } }) => {
          requests.push(`cancel ${String(taskId)}`);
          return { ...NO_LIMIT, taskId, status: 'cancelled' };
        },
      };
      return { handlers, requests, waiting: waiting.promise };
    }

    test.each([
      ['job', undefined],
      ['direct call', 'direct' as const],
    ])('has the result of the task, as a %s', async (_, mode) => {
      const { handlers } = tasked((taskId) => text(`result of ${taskId}`));
      const { runtime } = await wrapped(handlers);
      const client = await opened(runtime);
      expect(await client.invoke('work', {}, { mode }).result()).toMatchObject(text('result of task-1'));
    });

    test('is a task if the tool allows it, but not as a direct call', async () => {
      const { handlers, requests } = tasked(() => text('a task'), { taskSupport: 'optional' });
      const { runtime } = await wrapped(handlers);
      const client = await opened(runtime);
      expect(await client.invoke('work').result()).toMatchObject(text('a task'));
      expect(await client.invoke('work', {}, { mode: 'direct' }).result()).toMatchObject(text('no task'));
      expect(requests).toEqual(['task', 'result task-1', 'call']);
    });

    test('fails with the error of the task', async () => {
      const { handlers } = tasked(() => ({ ...text('Failed'), isError: true }));
      const { runtime } = await wrapped(handlers);
      const client = await opened(runtime);
      expect(await failureOf(client.invoke('work').result())).toMatchObject({ code: 'TOOL_ERROR', message: 'Failed' });
    });

    test('is cancelled with its job', async () => {
      const { handlers, requests, waiting } = tasked(() => new Promise(() => {}));
      const { runtime } = await wrapped(handlers);
      const call = (await opened(runtime)).invoke('work');
      await waiting;
      await call.cancel();
      expect((await failureOf(call.result())).code).toBe('CANCELLED');
      await expect.poll(() => requests, PATIENT).toEqual(['task', 'result task-1', 'cancel task-1']);
    });

    test.each([
      ['is awaited further if its answer does not arrive', false],
      ['has an unknown outcome if the server does not answer any more', true],
    ])('%s', async (_, isSilent) => {
      let isLost = true;
      const silent = () => new Promise(() => {});
      const { handlers, requests, waiting } = tasked((taskId) => (isLost ? silent() : text(`result of ${taskId}`)));
      const status: Handlers[string] = ({ params: { taskId } }) => {
        requests.push(`status ${String(taskId)}`);
        isLost = false;
        return isSilent ? silent() : { ...NO_LIMIT, taskId, status: 'working' };
      };
      const { runtime } = await wrapped({ ...handlers, 'tasks/get': status }, { idleTimeoutMs: 50 });
      const result = (await opened(runtime)).invoke('work').result();
      await waiting;
      const outcome = await result.catch((thrown: ArcpError) => thrown);
      expect(outcome).toMatchObject(
        isSilent ? { code: 'ABORTED', details: { outcome: 'unknown' } } : text('result of task-1'),
      );
      expect(requests.slice(0, 3)).toEqual(['task', 'result task-1', 'status task-1']);
    });

    async function continued(lose: (runtime: Runtime) => Promise<void>, second: (taskId: string) => unknown) {
      let isSecond = false;
      const { handlers, requests, waiting } = tasked((taskId) => (isSecond ? second(taskId) : new Promise(() => {})));
      const shared = memoryStore();
      ending.push(() => shared.close());
      const options = { store: { ...shared, close: async () => {} } as ArcpStore, workers: { leaseMs: 60 } };
      const first = await wrapped(handlers, {}, options);
      const jobId = (await (await opened(first.runtime)).invoke('work').accepted)!;
      await waiting;
      await lose(first.runtime);
      isSecond = true;
      const next = await wrapped(handlers, {}, options);
      const result = (await opened(next.runtime)).job(jobId).result();
      return { outcome: await result.catch((thrown: ArcpError) => thrown), requests };
    }

    test.each([
      ['lost', (runtime: Runtime) => runtime.close()],
      ['drained', (runtime: Runtime) => runtime.drain(0)],
    ])('continues after a %s attempt, without another call', async (_, lose) => {
      const { outcome, requests } = await continued(lose, (taskId) => text(`result of ${taskId}`));
      expect(outcome).toMatchObject(text('result of task-1'));
      expect(requests).toEqual(['task', 'result task-1', 'result task-1']);
    });

    test('has an unknown outcome if the server has forgotten the task', async () => {
      const { outcome } = await continued(
        (runtime) => runtime.close(),
        () => {
          throw rpcError(-32602, 'Task not found');
        },
      );
      expect(outcome).toMatchObject({ code: 'ABORTED', retryable: false, details: { outcome: 'unknown' } });
    });
  });

  describe('the end of the connection', () => {
    const hanging = (annotations?: object) => {
      const begun = deferred();
      let count = 0;
      const handlers: Handlers = {
        'tools/list': () => ({ tools: [tool('work', annotations)] }),
        'tools/call': () => {
          begun.resolve();
          return ++count === 1 ? new Promise(() => {}) : text(`call ${count}`);
        },
      };
      return { handlers, begun: begun.promise };
    };

    test.each([
      ['fails a running job for good', undefined, false],
      ['fails a running job retryably if the tool is idempotent', { idempotentHint: true }, true],
    ])('%s', async (_, annotations, retryable) => {
      const { handlers, begun } = hanging(annotations);
      const { pair, runtime } = await wrapped(handlers);
      const call = (await opened(runtime)).invoke('work');
      await begun;
      await pair.cut();
      expect(await failureOf(call.result())).toMatchObject({
        ...{ code: 'ABORTED', retryable, details: { outcome: 'unknown' } },
      });
    });

    test('makes later calls fail with a retryable error, until the client connects again', async () => {
      const { handlers } = hanging();
      const { pair, runtime, server } = await wrapped(handlers);
      const client = await opened(runtime);
      await pair.cut();
      for (const [name, args] of [
        ['work', {}],
        ['resources/read', { uri: 'a:1' }],
        ['resources/subscribe', { uri: 'a:1' }],
      ] as const)
        expect(await failureOf(client.invoke(name, args).result())).toMatchObject({
          ...{ code: 'UNAVAILABLE', retryable: true, message: 'The MCP server is not connected' },
        });
      await expect(server.refresh()).rejects.toMatchObject({ code: 'UNAVAILABLE' });
      await pair.reconnect();
      await server.refresh();
      void client.invoke('work');
      expect(await client.invoke('work').result()).toEqual(text('call 2'));
    });

    test('lets a job with retries call its tool later, since it was not called before', async () => {
      const { handlers } = hanging();
      const tools = { retry: { maxAttempts: 50, backoffMs: 5, factor: 1 } };
      const { pair, runtime } = await wrapped(handlers, { tools });
      const client = await opened(runtime);
      await pair.cut();
      const call = client.invoke('work');
      for await (const { type } of call.events()) if (type === 'tool.error') break;
      const other = client.invoke('work');
      await pair.reconnect();
      const results = Promise.race([call.result(), other.result()]);
      expect(await results).toEqual(text('call 2'));
    });

    test('or its absence is an error when the server is wrapped', async () => {
      const { pair } = await wrapped({});
      await pair.cut();
      await expect(wrapMcp(started(), pair.client)).rejects.toMatchObject({ code: 'UNAVAILABLE' });
    });

    test('ends subscriptions', async () => {
      const { pair, runtime } = await wrapped(subscribable().handlers);
      const call = (await opened(runtime)).invoke('resources/subscribe', { uri: 'a:1' });
      await call.stream('event').next();
      await pair.cut();
      expect(await failureOf(call.result())).toMatchObject({ code: 'UNAVAILABLE', retryable: true });
    });
  });

  /** A server with one resource, whose text is the number of reads. */
  function subscribable() {
    const requests: string[] = [];
    let reads = 0;
    const note = (what: string, { uri }: Readonly<Record<string, unknown>>) => {
      requests.push(`${what} ${String(uri)}`);
      return {};
    };
    const handlers: Handlers = {
      'resources/read': ({ params: { uri } }) => ({
        contents: [{ uri, mimeType: 'text/plain', text: `read ${++reads}` }],
      }),
      'resources/subscribe': ({ params }) => note('subscribe', params),
      'resources/unsubscribe': ({ params }) => note('unsubscribe', params),
    };
    return { handlers, requests };
  }

  describe('subscriptions', () => {
    const textsOf = async (event: Promise<IteratorResult<unknown>>) =>
      ((await event).value as { contents: { uri: string; text: string }[] }).contents.map(
        (one) => `${one.uri} ${one.text}`,
      );
    const updated = (pair: McpPair, uri: string) => pair.notify('notifications/resources/updated', { uri });

    test('of several jobs to one resource are one of the server', async () => {
      const { handlers, requests } = subscribable();
      const { pair, runtime } = await wrapped(handlers);
      const client = await opened(runtime);
      const calls = [0, 1].map(() => client.invoke('resources/subscribe', { uri: 'a:1' }));
      const streams = calls.map((call) => call.stream('event'));
      for (const stream of streams) await stream.next();
      expect(requests).toEqual(['subscribe a:1']);
      await calls[0]!.cancel();
      await failureOf(calls[0]!.result());
      await updated(pair, 'a:2');
      await updated(pair, 'a:1');
      expect(await textsOf(streams[1]!.next())).toEqual(['a:1 read 3']);
      await calls[1]!.cancel();
      await failureOf(calls[1]!.result());
      await expect.poll(() => requests, PATIENT).toEqual(['subscribe a:1', 'unsubscribe a:1']);
      const again = client.invoke('resources/subscribe', { uri: 'a:1' });
      expect(await textsOf(again.stream('event').next())).toEqual(['a:1 read 4']);
      expect(requests.at(-1)).toBe('subscribe a:1');
    });

    test('end with the removal of the server, which is informed', async () => {
      const { handlers, requests } = subscribable();
      const { runtime, server } = await wrapped(handlers);
      const call = (await opened(runtime)).invoke('resources/subscribe', { uri: 'a:1' });
      await call.stream('event').next();
      await server.remove();
      expect(await failureOf(call.result())).toMatchObject({ code: 'UNAVAILABLE', retryable: false });
      await expect.poll(() => requests, PATIENT).toEqual(['subscribe a:1', 'unsubscribe a:1']);
    });

    test('include the parts of a resource', async () => {
      const { pair, runtime } = await wrapped(subscribable().handlers);
      const call = (await opened(runtime)).invoke('resources/subscribe', { uri: 'a://files/' });
      const events = call.stream('event');
      await events.next();
      await updated(pair, 'a://files-of-others/1');
      await updated(pair, 'a://files/1');
      expect(await textsOf(events.next())).toEqual(['a://files/1 read 2']);
    });

    test('that the server refuses fail', async () => {
      const { runtime } = await wrapped({
        ...subscribable().handlers,
        'resources/subscribe': () => {
          throw rpcError(-32603, 'Broken');
        },
      });
      const client = await opened(runtime);
      const failed = failureOf(client.invoke('resources/subscribe', { uri: 'a:1' }).result());
      expect(await failed).toMatchObject({ code: 'INTERNAL', message: expect.stringContaining('Broken') });
      expect((await failureOf(client.invoke('resources/subscribe', { uri: 3 }).result())).code).toBe(
        'INVALID_ARGUMENT',
      );
    });
  });

  test('each content of a resource is a stream with its URI as name', async () => {
    const { runtime } = await wrapped({
      'resources/read': ({ params: { uri } }) => ({
        contents: [
          { uri: `${uri}/a`, mimeType: 'text/plain', text: 'A' },
          { uri: `${uri}/b`, mimeType: 'image/png', blob: 'AAEC' },
        ],
      }),
    });
    const call = (await opened(runtime)).invoke<{ contents: object[] }>('resources/read', { uri: 'x:1' });
    const [a, b] = [call.stream('x:1/a'), call.stream('x:1/b')];
    expect((await a.next()).value).toBe('A');
    expect((await b.next()).value).toEqual(new Uint8Array([0, 1, 2]));
    const _meta = { 'arcp/stream_id': expect.any(String) };
    expect((await call.result()).contents).toEqual([
      { uri: 'x:1/a', mimeType: 'text/plain', text: 'A', _meta },
      { uri: 'x:1/b', mimeType: 'image/png', blob: 'AAEC', _meta },
    ]);
  });

  test('the required variables of a template are required arguments', async () => {
    const { runtime } = await wrapped({
      'resources/templates/list': () => ({
        resourceTemplates: [{ uriTemplate: 'x://{host}/{+path}{?q}', name: 'any', description: 'Anything' }],
      }),
      'resources/read': ({ params: { uri } }) => ({ contents: [{ uri, text: 'read' }] }),
    });
    const client = await opened(runtime);
    const name = 'resources/x://{host}/{+path}{?q}';
    expect(client.session.tools!.find((one) => one.name === name)).toMatchObject({
      description: 'Anything',
      input_schema: { required: ['host', 'path'] },
    });
    expect(await client.invoke(name, { host: 'a b', path: 'c/d' }).result()).toMatchObject({
      contents: [{ uri: 'x://a%20b/c/d' }],
    });
    expect(await failureOf(client.invoke(name, { host: 'a' }).result())).toMatchObject({
      ...{ code: 'INVALID_ARGUMENT', message: 'path: required' },
    });
  });
});
