/** Without its framework, an adapter names the package to install. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import process from 'node:process';
import { build } from 'esbuild';
import { expect, test } from 'vitest';
import { ended, start } from '../helpers/child.js';
import { sourceAliases } from '../helpers/source-aliases.js';

const PROGRAM = `
import { memoryStore } from 'pegwire/accp/session';
import * as aiSdk from 'pegwire/frameworks/ai-sdk';
import * as langgraph from 'pegwire/frameworks/langgraph';
import * as openaiAgents from 'pegwire/frameworks/openai-agents';

const client = { session: {}, invoke() {} };
const attempts = [
  () => aiSdk.arcpTools(client),
  () => openaiAgents.arcpTools(client),
  () => langgraph.arcpTools(client),
  () => langgraph.checkpointSaver(memoryStore()),
];
for (const attempt of attempts) await attempt().catch(({ code, message }) => console.log(code + ': ' + message));
// A history needs no package.
console.log(await openaiAgents.storedSession(memoryStore(), { id: 'a' }).getItems());
`;

test('each entry loads, and its functions name the missing package', async () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'pegwire-missing-'));
  const outfile = path.join(folder, 'program.mjs');
  await build({
    stdin: { contents: PROGRAM, resolveDir: process.cwd() },
    ...{ outfile, bundle: true, platform: 'node', format: 'esm', alias: sourceAliases(), logLevel: 'error' },
    external: ['ai', '@langchain/*', '@openai/*'],
  });
  const { stdout, stderr } = await ended(start([process.execPath, outfile], { stdin: '', cwd: folder }));
  rmSync(folder, { recursive: true, force: true });
  expect(stderr).toBe('');
  const names = ['ai', '@openai/agents', '@langchain/core', '@langchain/langgraph-checkpoint'];
  const lines = names.map((name) => `no-package: The package ${name} is not installed; run npm install ${name}`);
  expect(stdout).toBe([...lines, '[]', ''].join('\n'));
});
