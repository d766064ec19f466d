/** The SDKs are optional: their required interface, and the errors when they are missing. */
import { readFileSync } from 'node:fs';
import Anthropic from '@anthropic-ai/sdk';
import OpenAI, { AzureOpenAI } from 'openai';
import ts from 'typescript';
import { afterEach, expect, test, vi } from 'vitest';
import type { AnthropicClient } from '../../../src/aacp/models/anthropic-model.js';
import { ModelError } from '../../../src/aacp/models/model.js';
import type { OpenAiChatClient, OpenAiResponsesClient } from '../../../src/aacp/models/openai-model.js';
import { loadSdk, once } from '../../../src/aacp/models/provider.js';
import { ANTHROPIC, COMPATIBLE, OPENAI, REQUEST } from './providers.js';

afterEach(() => {
  vi.doUnmock('openai');
  vi.doUnmock('@anthropic-ai/sdk');
});

test('the clients of the SDKs have the interface that the options require', () => {
  // This test passes if these lines compile.
  const anthropic: AnthropicClient = new Anthropic({ apiKey: 'k' });
  const openai: OpenAiResponsesClient & OpenAiChatClient = new OpenAI({ apiKey: 'k' });
  const azure: OpenAiResponsesClient & OpenAiChatClient = new AzureOpenAI({
    apiKey: 'k',
    endpoint: 'https://example.test',
    apiVersion: 'v',
  });
  expect([anthropic.messages.create, openai.responses.create, azure.chat.completions.create]).toEqual([
    expect.any(Function),
    expect.any(Function),
    expect.any(Function),
  ]);
});

test.each(['anthropic-model', 'openai-model', 'openai-compatible-model', 'provider'])(
  'the declarations of %s do not need the types of the SDKs',
  (name) => {
    const file = new URL(`../../../src/aacp/models/${name}.ts`, import.meta.url);
    const { outputText } = ts.transpileDeclaration(readFileSync(file, 'utf8'), {});
    expect(outputText).toContain('export ');
    expect(outputText).not.toMatch(/@anthropic-ai\/sdk['"]|from ['"]openai['"]|import\(['"]openai['"]\)/);
  },
);

test.each([
  ['@anthropic-ai/sdk', ANTHROPIC],
  ['openai', OPENAI],
  ['openai', COMPATIBLE],
])('reports that %s cannot be loaded, at the first request and not before', async (name, provider) => {
  vi.doMock(name, () => {
    throw new Error('nothing here');
  });
  const model = provider.make('http://127.0.0.1:1');
  await expect(model(REQUEST)).rejects.toMatchObject({ code: 'model-not-installed', help: `npm install ${name}` });
});

test('reports that a package is not installed', async () => {
  const name = 'no-such-package-of-ours';
  const failure: unknown = await loadSdk(name, () => import(/* @vite-ignore */ name)).catch(
    (thrown: unknown) => thrown,
  );
  expect(failure).toBeInstanceOf(ModelError);
  expect(failure).toMatchObject({
    code: 'model-not-installed',
    message: `The package ${name} is not installed.`,
    help: `npm install ${name}`,
  });
});

test('a value that is created once is created again only after a failure', async () => {
  const make = vi.fn<() => Promise<string>>().mockRejectedValueOnce(new Error('not yet')).mockResolvedValue('made');
  const get = once(make);
  await expect(get()).rejects.toThrow('not yet');
  await expect(Promise.all([get(), get()])).resolves.toEqual(['made', 'made']);
  expect(make).toHaveBeenCalledTimes(2);
});
