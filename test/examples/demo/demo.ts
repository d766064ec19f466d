import { readFile } from 'node:fs/promises';
import type { Output } from '../../../src/cli/io/output.js';
import { tellConversation } from './conversation.js';
import { tellPipeline } from './pipeline.js';
import { createTeller } from './report.js';

export interface DemoOptions {
  /** Whether the output is JSON, one document a line. */
  readonly json: boolean;
  /** What starts the command line of pegwire: the demo resumes a session in another process. */
  readonly commandLine: readonly string[];
}

/** Runs both parts of the demo: messages, and agents that work through sessions. */
export async function runDemo(output: Output, { json, commandLine }: DemoOptions): Promise<void> {
  const teller = createTeller(output, json);
  await tellConversation(await example('conversation.txt'), teller);
  await tellPipeline(JSON.parse(await example('pipeline.json')), teller, commandLine);
}

function example(name: string): Promise<string> {
  return readFile(new URL(name, import.meta.url), 'utf8');
}
