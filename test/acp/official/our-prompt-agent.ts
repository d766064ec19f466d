/** The agent of `prompt-agent.ts` on a connection of `pegwire/acp`. */
import { serveStdio } from '../../../src/acp/index.js';

interface Prompt {
  readonly sessionId: string;
}

serveStdio({
  handlers: {
    initialize: () => ({ protocolVersion: 1, agentCapabilities: {} }),
    'session/new': () => ({ sessionId: 's1' }),
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
