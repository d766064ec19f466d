/** Interoperability with the official SDK: its client with our agent, our client with its agent, and its `agent()` on our transport. */
import { spawn } from 'node:child_process';
import { Readable, Writable } from 'node:stream';
import {
  agent as agentApp,
  client,
  methods,
  ndJsonStream,
  PROTOCOL_VERSION,
  type Stream,
} from '@agentclientprotocol/sdk';
import { describe, expect, test } from 'vitest';
import { launchAgent, memoryChannels, spawnAgent, toStream } from '../../src/acp/index.js';
import { bundledProgram } from '../helpers/bundled-program.js';
import { encode, linesOf, runAgent } from './agent-process.js';
import { cases, expectedOf, outputOf, piecesOf, sorted } from './cases.js';

const methodsAgent = bundledProgram(new URL('./official/methods-agent.ts', import.meta.url), { packages: 'bundle' });
const promptAgent = bundledProgram(new URL('./official/prompt-agent.ts', import.meta.url));
const ourPromptAgent = bundledProgram(new URL('./official/our-prompt-agent.ts', import.meta.url));

/** Runs a prompt turn with a client of the official SDK, and returns the texts that it receives. */
async function officialTurn(stream: Stream): Promise<string[]> {
  const received: string[] = [];
  const app = client({ name: 'test' })
    .onNotification(methods.client.session.update, ({ params: { update } }) => {
      if (update.sessionUpdate === 'agent_message_chunk' && update.content.type === 'text')
        received.push(update.content.text);
    })
    .onRequest(methods.client.session.requestPermission, ({ params }) => ({
      outcome: { outcome: 'selected', optionId: params.options[0]!.optionId },
    }));
  await app.connectWith(stream, async (agent) => {
    await agent.request(methods.agent.initialize, { protocolVersion: PROTOCOL_VERSION, clientCapabilities: {} });
    const { sessionId } = await agent.request(methods.agent.session.new, { cwd: '/', mcpServers: [] });
    const prompt = [{ type: 'text' as const, text: 'write' }];
    const answer = await agent.request(methods.agent.session.prompt, { sessionId, prompt });
    received.push((answer as { stopReason: string }).stopReason);
  });
  return received;
}

const TURN = ['May I', ' write?', ' yes.', 'end_turn'];

describe('the official client', () => {
  test('has a whole turn with our agent, on its own transport', async () => {
    const child = spawn(process.execPath, [ourPromptAgent()], { stdio: ['pipe', 'pipe', 'inherit'] });
    const output = Writable.toWeb(child.stdin) as WritableStream<Uint8Array>;
    const input = Readable.toWeb(child.stdout) as ReadableStream<Uint8Array>;
    const exit = new Promise((resolve) => child.on('exit', resolve));
    expect(await officialTurn(ndJsonStream(output, input))).toEqual(TURN);
    child.stdin.destroy();
    expect(await exit).toBe(0);
  });

  test('has a whole turn with the official agent, on our transport', async () => {
    const agent = await launchAgent(process.execPath, [promptAgent()]);
    expect(await officialTurn(toStream(agent.channel))).toEqual(TURN);
    expect(await agent.close()).toMatchObject({ code: 0 });
  });
});

describe('the official agent', () => {
  test('has a whole turn with our client', async () => {
    const received: string[] = [];
    const agent = await spawnAgent(process.execPath, [promptAgent()], {
      handlers: {
        'session/update': ({ update }: { update: { content: { text: string } } }) => {
          received.push(update.content.text);
        },
        'session/request_permission': ({ options }: { options: [{ optionId: string }] }) => ({
          outcome: { outcome: 'selected', optionId: options[0].optionId },
        }),
      },
    });
    await agent.request('initialize', { protocolVersion: 1, clientCapabilities: {} });
    const { sessionId } = (await agent.request('session/new', { cwd: '/', mcpServers: [] })) as { sessionId: string };
    const prompt = [{ type: 'text', text: 'write' }];
    const { stopReason } = (await agent.request('session/prompt', { sessionId, prompt })) as { stopReason: string };
    expect([...received, stopReason]).toEqual(TURN);
    await agent.close();
  });

  test('rejects batches on its own transport, so that the calls of our client reject', async () => {
    const agent = await spawnAgent(process.execPath, [promptAgent()]);
    const outcomes = await agent.batch([{ method: 'a' }, { method: 'b' }]);
    expect(outcomes).toMatchObject([{ reason: { code: 'batches-refused' } }, { reason: { code: 'batches-refused' } }]);
    await agent.close();
  });
});

describe('a cancellation to the official agent()', () => {
  test('reaches all requests with its identifier', async () => {
    const [ours, theirs] = memoryChannels();
    let cancelled = 0;
    const parser = { parse: (params: unknown) => params };
    agentApp({ name: 'slow' })
      .onRequest('slow', parser, ({ signal }) => {
        return new Promise((_resolve, reject) => {
          signal.addEventListener('abort', () => {
            cancelled++;
            reject(signal.reason);
          });
        });
      })
      .connect(toStream(theirs));
    const received: unknown[] = [];
    const both = new Promise<void>((resolve) => {
      ours.start({
        text: (text) => {
          received.push(JSON.parse(text));
          if (received.length === 2) resolve();
        },
        ...{ invalid: () => {}, tooLong: () => {}, ended: () => {} },
      });
    });
    const slow = { jsonrpc: '2.0', id: 5, method: 'slow' };
    for (const message of [slow, [slow]]) ours.send(JSON.stringify(message));
    ours.send(JSON.stringify({ jsonrpc: '2.0', method: '$/cancel_request', params: { requestId: 5 } }));
    await both;
    expect(cancelled).toBe(2);
    expect(received.flat()).toMatchObject([
      { id: 5, error: {} },
      { id: 5, error: {} },
    ]);
    ours.destroy();
  });
});

describe('the official agent() on our transport, against the conformance cases', () => {
  /** The transport cannot determine when the handler of a notification has finished. */
  const rest = cases.filter(({ id }) => id !== 'B25');

  test.concurrent.each(rest)('$id: $name', async (one) => {
    const ran = await runAgent(methodsAgent(), piecesOf(one));
    // The SDK responds a little later, so that an error of the transport may come first.
    expect(sorted(outputOf(ran))).toEqual(sorted(expectedOf(one, ran)));
    expect(ran.code).toBe(0);
  });

  test('a result that cannot be serialized fails only its own request', async () => {
    const deep = `${'['.repeat(20_000)}${']'.repeat(20_000)}`;
    const lines = [
      `{"jsonrpc":"2.0","id":1,"method":"echo","params":${deep}}`,
      '{"jsonrpc":"2.0","id":2,"method":"notes"}',
    ];
    const ran = await runAgent(methodsAgent(), [encode(`${lines.join('\n')}\n`)]);
    expect(linesOf(ran)).toMatchObject([
      { id: 1, error: { code: -32603 } },
      { id: 2, result: 0 },
    ]);
  });
});
