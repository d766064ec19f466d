import { readFile } from 'node:fs/promises';
import type { Output } from '../../../src/cli/io/output.js';
import { reportConversation } from './conversation.js';
import { runPipeline } from './pipeline.js';
import { createReporter } from './report.js';

export interface DemoOptions {
  /** If true, the output is JSON, one document per line. */
  readonly json: boolean;
  /** The program and arguments that start the command line of pegwire, with which the demo resumes a session in another process. */
  readonly commandLine: readonly string[];
}

/** Runs both parts of the demo: messages, and agents that work in sessions. */
export async function runDemo(output: Output, { json, commandLine }: DemoOptions): Promise<void> {
  const reporter = createReporter(output, json);
  await reportConversation(await example('conversation.txt'), reporter);
  await runPipeline(JSON.parse(await example('pipeline.json')), reporter, commandLine);
}

function example(name: string): Promise<string> {
  return readFile(new URL(name, import.meta.url), 'utf8');
}
