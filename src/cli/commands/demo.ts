import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { packageRoot } from '../package.js';
import type { Command } from '../usage.js';

const EXAMPLES = 'test/examples';

/** `pegwire demo`: the main jobs from end to end: messages, and agents that work through sessions. */
export const demo: Command = {
  name: 'demo',
  summary: 'everything above: a conversation, and five agents at work through sessions',
  takesInput: false,
  options: {},
  example: 'pegwire demo',
  run: async (invocation) => {
    const { tellConversation } = await import('../demo/conversation.js');
    const { tellPipeline } = await import('../demo/pipeline.js');
    const { createTeller } = await import('../demo/teller.js');
    const teller = createTeller(invocation);
    await tellConversation(await example('conversation.txt'), teller);
    await tellPipeline(JSON.parse(await example('pipeline.json')), teller);
    return 0;
  },
};

function example(name: string): Promise<string> {
  return readFile(path.join(packageRoot(), EXAMPLES, name), 'utf8');
}
