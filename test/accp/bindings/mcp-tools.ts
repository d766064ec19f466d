/** Tool calls of an official client to an official server, in frames. */

import { describe, expect, test } from 'vitest';
import { callTool, framesIn, tcTool } from '../../../src/accp/bindings/mcp/index.js';
import { createCodec, createSession } from '../../../src/accp/codec/index.js';
import { parseFrame } from '../../../src/accp/parse.js';
import { passingTime } from '../../helpers/passing-time.js';
import { request, toolClient, toolServer } from './mcp-fixture.js';
import type { CallResult, Wiring } from './mcp-wiring.js';

export function testMcpTools(connect: Wiring['connect']): void {
  describe('tools', () => {
    test('the frame in _meta is answered with a done:tool frame of the schema TC that names the tool', async () => {
      const { client } = await connect(toolServer().serve);
      const codec = createCodec();
      const session = createSession({ agent: 'planner', sequence: 'sender' });
      const { frames, msgId } = request(codec, session, 'add', { a: 1, b: 2 });
      const result = (await client.callTool({
        name: 'add',
        arguments: { a: 1, b: 2 },
        _meta: { 'accp/frame': frames[0]! },
      })) as CallResult;
      expect(result.isError).toBeFalsy();
      expect(result.content).toHaveLength(1);
      const [answer] = framesIn(result.content);
      expect(parseFrame(answer!)).toMatchObject({ agent: 'tools', intent: 'done', operation: 'tool' });
      expect(codec.decode(answer!, session)).toMatchObject({
        outcome: 'message',
        message: {
          schema: 'TC',
          payload: { tool_name: 'add', result: { sum: 3 }, status: 'ok' },
          envelope: { correlation_id: msgId, causation_id: msgId, session_id: session.id },
        },
      });
    });

    test('callTool returns the decoded answer, and calls of one session continue', async () => {
      const { runs, serve } = toolServer();
      const { call } = await toolClient(await connect(serve));
      const sums = await Promise.all([call('add', { a: 1, b: 2 }), call('add', { a: 3, b: 4 }), call('now')]);
      expect(sums.map(({ message }) => message.payload['result'])).toEqual([{ sum: 3 }, { sum: 7 }, null]);
      expect(sums.map(({ frames }) => frames.length)).toEqual([1, 1, 1]);
      expect(runs).toEqual(['add', 'add', 'now']);
    });

    test.each([
      ['words with blanks', 'Hello, world: "x" {y} [z] | $cold.k \\'],
      ['what reads as another kind', '42'],
      ['other scripts', 'Grüße, Welt: 你好 🎉'],
      ['nothing', ''],
      ['more than a frame may hold', 'All is well that ends well, said the fox. '.repeat(80)],
    ])('text comes back exactly: %s', async (_, text) => {
      const { call } = await toolClient(await connect(toolServer().serve));
      expect((await call('echo', { text })).message.payload['result']).toBe(text);
    });

    test.each([
      ['a tool that throws', 'broken', {}, 'E4002', /^(?!.*password)/],
      ['a tool that throws an AccpError', 'refusing', {}, 'E4002', /archive/],
      ['a result that cannot be encoded', 'unsayable', {}, 'E4003', /result/],
      [
        'a result that throws when it is read',
        'secretive',
        {},
        'E4003',
        /^The tool has run, but its result cannot be encoded as a frame\.$/,
      ],
      ['a tool that does not exist', 'multiply', { a: 1 }, 'E4001', /multiply/],
      ['arguments that do not match the schema', 'add', { a: 'one', b: 2 }, 'E4003', /./],
    ])('%s is an error frame', async (_, tool, args, code, words) => {
      const { call } = await toolClient(await connect(toolServer().serve));
      const { message } = await call(tool, args);
      expect(message).toMatchObject({ intent: 'fail', operation: 'error', schema: 'ER', payload: { code } });
      expect(message.payload['message']).toMatch(words);
    });

    test('an error frame of a tool is in a result with isError, and its message is reported to the server', async () => {
      const { serve, failures } = toolServer();
      const { client } = await connect(serve);
      const codec = createCodec();
      const session = createSession({ agent: 'planner', sequence: 'sender' });
      const [frame] = request(codec, session, 'broken', {}).frames;
      const result = (await client.callTool({ name: 'broken', _meta: { 'accp/frame': frame! } })) as CallResult;
      expect(result.isError).toBe(true);
      expect(framesIn(result.content)).toEqual([expect.stringContaining('>fail:error{code:E4002|')]);
      expect(failures).toEqual([['broken', 'the password is 1234']]);
    });

    test('the exception of a result is reported to the server only, with and without frames, and the session continues', async () => {
      const { serve, failures } = toolServer();
      const fixture = await connect(serve);
      const { call } = await toolClient(fixture);
      await call('secretive');
      const result = (await fixture.client.callTool({ name: 'secretive' })) as CallResult;
      expect(JSON.stringify(result)).not.toContain('password');
      expect(failures).toEqual(Array(2).fill(['secretive', 'the password is 1234']));
      expect((await call('echo', { text: 'on' })).frames).toHaveLength(1);
    });

    test('rounding losses are reported on both sides', async () => {
      const { serve, notices } = toolServer();
      const { call } = await toolClient(await connect(serve));
      expect((await call('rounded')).message.payload['result']).toBe(0.123457);
      expect(notices).toMatchObject([{ direction: 'sent', losses: [{ path: 'payload.result' }] }]);
      const { losses } = await call('add', { a: 0.123456789, b: 1 });
      expect(losses).toMatchObject([{ path: 'payload.arguments.a' }, { path: 'payload.result.sum' }]);
    });

    test('after calls that did not reach a tool, the session continues, and each tool runs once', async () => {
      const { runs, serve } = toolServer();
      const clock = passingTime(1_800_000_000, 1000);
      const { call, session } = await toolClient(await connect(serve), createCodec({ now: () => clock.now * 1000 }));
      await call('add', { a: 'one', b: 2 });
      await call('multiply', { a: 1 });
      expect((await call('add', { a: 1, b: 2 })).message.payload['result']).toEqual({ sum: 3 });
      expect((await call('add', { a: 2, b: 2 })).message.payload['result']).toEqual({ sum: 4 });
      expect(runs).toEqual(['add', 'add']);
      clock.now += 3600;
      expect(session.tick()).toEqual([]);
    });

    test('after a lost answer, the session continues, and each tool runs once', async () => {
      const { runs, serve } = toolServer();
      const fixture = await connect(serve);
      const { call, codec, session } = await toolClient(fixture);
      await call('add', { a: 1, b: 1 });
      const lost = request(codec, session, 'add', { a: 2, b: 2 });
      await fixture.client.callTool({
        name: 'add',
        arguments: { a: 2, b: 2 },
        _meta: { 'accp/frame': lost.frames[0]! },
      });
      const { message, frames } = await call('echo', { text: 'on' });
      expect(message.payload['result']).toBe('on');
      expect(frames.some((frame) => frame.includes(`cid:${lost.msgId}`))).toBe(true);
      expect(runs).toEqual(['add', 'add', 'echo']);
    });

    test('a frame that calls another tool is rejected with E4001', async () => {
      const { runs, serve } = toolServer();
      const { client } = await connect(serve);
      const codec = createCodec();
      const session = createSession({ agent: 'planner', sequence: 'sender' });
      const [frame] = request(codec, session, 'add', { a: 1, b: 2 }).frames;
      const result = (await client.callTool({ name: 'now', _meta: { 'accp/frame': frame! } })) as CallResult;
      expect(result.isError).toBe(true);
      expect(framesIn(result.content)).toEqual([expect.stringContaining('code:E4001')]);
      expect(runs).toEqual([]);
    });

    test.each([
      ['is not a frame', 'hello', 'E1001'],
      ['is a frame of another schema', '@planner>req:chat{content:hi|schema:CH}[mid:a1,seq:1]', 'E1004'],
      ['has an invalid intent', '@planner>frobnicate:tool{tool:now|schema:TC}[mid:a1,seq:1]', 'E1002'],
    ])('a text that %s is rejected, and the tool does not run', async (_, frame, code) => {
      const { runs, serve } = toolServer();
      const { client } = await connect(serve);
      const result = (await client.callTool({ name: 'now', _meta: { 'accp/frame': frame } })) as CallResult;
      expect(result.isError).toBe(true);
      expect(framesIn(result.content)).toEqual([expect.stringContaining(`code:${code}`)]);
      expect(runs).toEqual([]);
    });

    test.each([
      ['a number', 5],
      ['an object', { frame: 'x' }],
      ['a list with a number in it', ['@planner>req:tool{tool:now|schema:TC}[mid:a1,seq:1]', 5]],
    ])('%s instead of a frame is rejected with E1001, and the tool does not run', async (_, frame) => {
      const { runs, serve } = toolServer();
      const { client } = await connect(serve);
      const result = (await client.callTool({ name: 'now', _meta: { 'accp/frame': frame } })) as CallResult;
      expect(result.isError).toBe(true);
      expect(framesIn(result.content)).toEqual([expect.stringContaining('code:E1001')]);
      expect(runs).toEqual([]);
    });

    test('an expired request does not run, and only the client gets E3001', async () => {
      const { runs, serve } = toolServer();
      const { client } = await connect(serve);
      const codec = createCodec();
      const session = createSession({ agent: 'planner', sequence: 'sender' });
      const call = { tool: 'now', envelope: { timestamp: 1_714_000_000, ttl: 5 } };
      await expect(callTool(client, call, { codec, session })).rejects.toMatchObject({ code: 'E3001' });
      expect(runs).toEqual([]);
    });

    test('the signal of a tool is aborted when the client aborts the call', async () => {
      const codec = createCodec();
      const session = createSession({ agent: 'tools', sequence: 'sender' });
      const { promise: aborted, resolve: noteAbort } = promiseOf<string>();
      const { promise: begun, resolve: noteBegin } = promiseOf<void>();
      const fixture = await connect(() => ({
        tools: [
          {
            name: 'slow',
            handler: tcTool(
              (_, { signal }) => {
                noteBegin();
                return new Promise((resolve) => {
                  signal.addEventListener('abort', () => {
                    noteAbort('aborted');
                    resolve(null);
                  });
                });
              },
              { name: 'slow', codec, session },
            ),
          },
        ],
      }));
      const controller = new AbortController();
      const call = fixture.callAndAbort('slow', controller.signal, {});
      await begun;
      controller.abort();
      await expect(call).rejects.toThrow();
      expect(await aborted).toBe('aborted');
    });

    test('a tool with an output schema also returns structured content', async () => {
      const fixture = await connect(toolServer().serve);
      const { call } = await toolClient(fixture);
      expect((await call('sum', { a: 1, b: 2 })).message.payload['result']).toEqual({ sum: 3 });
    });

    test('a client that sends no frame gets one, and the result as text', async () => {
      const { client } = await connect(toolServer().serve);
      const result = (await client.callTool({ name: 'echo', arguments: { text: 'Hi there' } })) as CallResult;
      expect(framesIn(result.content)).toEqual([expect.stringContaining('>done:tool{tool:echo|')]);
      expect(result.content).toContainEqual({ type: 'text', text: 'Hi there' });
      const failed = (await client.callTool({ name: 'broken' })) as CallResult;
      expect(failed.isError).toBe(true);
      expect(failed.content).toContainEqual({ type: 'text', text: 'The tool failed.' });
    });
  });
}

function promiseOf<T>(): { promise: Promise<T>; resolve: (value: T) => void } {
  let resolve: (value: T) => void = () => undefined;
  const promise = new Promise<T>((done) => {
    resolve = done;
  });
  return { promise, resolve };
}
