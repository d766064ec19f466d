/** The prompt turn of `official/our-prompt-agent.ts`, for both sides. */
import { client, methods, PROTOCOL_VERSION, type Stream } from '@agentclientprotocol/sdk';
import { type Channel, type Connection, createConnection } from '../../../src/acp/portable.js';

interface Prompt {
  readonly sessionId: string;
  readonly prompt?: readonly { readonly text: string }[];
}

let sessions = 0;

/** Serves the agent on a channel. */
export function servePrompts(channel: Channel): Connection {
  return createConnection(channel, {
    handlers: {
      initialize: () => ({ protocolVersion: 1, agentCapabilities: {} }),
      'session/new': () => ({ sessionId: `s${++sessions}` }),
      'session/prompt': async ({ sessionId }: Prompt, { connection }) => {
        const say = (text: string): Promise<void> =>
          connection.notify('session/update', {
            sessionId,
            update: { sessionUpdate: 'agent_message_chunk', content: { type: 'text', text } },
          });
        await say('May I');
        await say(' write?');
        const { outcome } = (await connection.request('session/request_permission', {
          sessionId,
          toolCall: { toolCallId: 't1', title: 'write a file' },
          options: [
            { optionId: 'yes', name: 'Yes', kind: 'allow_once' },
            { optionId: 'no', name: 'No', kind: 'reject_once' },
          ],
        })) as { outcome: { outcome: string; optionId?: string } };
        await say(outcome.outcome === 'selected' ? ` ${outcome.optionId}.` : ' cancelled.');
        return { stopReason: 'end_turn' };
      },
    },
  });
}

/** The messages of a turn, as both clients receive them. */
export const TURN = ['May I', ' write?', ' yes.', 'end_turn'];

/** Runs a turn with a client of the official SDK, and returns the texts that it receives. */
export async function officialTurn(stream: Stream): Promise<string[]> {
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

/** Runs a turn with a connection of this package, and returns the texts that it receives. */
export async function ourTurn(channel: Channel): Promise<string[]> {
  return (await openTurn(channel))();
}

/** Opens a connection of this package. Returns the function that runs its turn, and closes it. */
export async function openTurn(channel: Channel): Promise<() => Promise<string[]>> {
  const received: string[] = [];
  const connection = createConnection(channel, {
    handlers: {
      'session/update': ({ update }: { update: { content: { text: string } } }) => {
        received.push(update.content.text);
      },
      'session/request_permission': ({ options }: { options: [{ optionId: string }] }) => ({
        outcome: { outcome: 'selected', optionId: options[0].optionId },
      }),
    },
  });
  await connection.request('initialize', { protocolVersion: 1, clientCapabilities: {} });
  return async () => {
    const { sessionId } = (await connection.request('session/new', { cwd: '/', mcpServers: [] })) as Prompt;
    const prompt = [{ type: 'text', text: 'write' }];
    const answer = await connection.request('session/prompt', { sessionId, prompt });
    await connection.close();
    return [...received, (answer as { stopReason: string }).stopReason];
  };
}
