/** Options for durations are milliseconds: they refuse values that are not durations, and take `Infinity` as never. */
import { afterAll, describe, expect, test } from 'vitest';
import { createFallbackEncoder, memoryRegistry } from '../src/aacp/fallback/index.js';
import { openaiModel } from '../src/aacp/models/index.js';
import { connectHttp, postFrame } from '../src/accp/bindings/http/index.js';
import { connectWebSocket, createEndpoint, createWebSocketEndpoint } from '../src/accp/bindings/websocket/index.js';
import { createCodec, createSession, memoryStore, startTimers } from '../src/accp/codec/index.js';
import { startServer } from '../src/accp/serve/index.js';
import { createConnection, launchAgent, memoryChannels } from '../src/acp/index.js';
import { openClient } from '../src/arcp/client/index.js';
import { checkRuntime, replayLog } from '../src/arcp/conformance/index.js';
import { createRuntime, definePolicy, sandboxed } from '../src/arcp/runtime/index.js';
import { functionTarget, processTarget } from '../src/engine.js';

const codec = createCodec();
const session = createSession({ agent: 'a', sequence: 'sender', store: memoryStore() });
const endpoint = (options = {}) => createEndpoint({ codec: createCodec(), agent: 'a', handle: () => null, ...options });
const URL = 'http://127.0.0.1:9/';
const model = { model: 'm', client: { responses: { create: () => Promise.resolve({}) } } };
const dial = () => memoryChannels()[0];
const stops: (() => unknown)[] = [];
afterAll(async () => {
  for (const stop of stops) await stop();
});

type Use = (option: Record<string, number>) => unknown;
type Case = readonly [option: string, use: Use, min: 0 | undefined];
const reconnect: (use: Use) => Use = (use) => (option) => use({ reconnect: option } as never);

function cases(list: readonly (readonly [option: string, use: Use, min?: 0])[]): readonly Case[] {
  return list.map(([option, use, min]) => [option, use, min]);
}

/** Functions that take an option synchronously, or reject before they open a connection. */
const OPTIONS = cases([
  ['timeoutMs', (option) => createSession({ agent: 'a', ...option })],
  ['streamTimeoutMs', (option) => createSession({ agent: 'a', ...option })],
  ['ttlMs', (option) => session.state.set('hot', 'k', 1, option)],
  ['intervalMs', (option) => stops.push(startTimers(session, option))],
  ['idleTimeoutMs', (option) => endpoint(option)],
  ['handshakeTimeoutMs', (option) => createWebSocketEndpoint(endpoint(), option)],
  ['resumeWindowMs', (option) => createWebSocketEndpoint(endpoint(), option), 0],
  ['heartbeatMs', (option) => createWebSocketEndpoint(endpoint(), option)],
  ['ttlMs', (option) => memoryRegistry(option)],
  ['timeoutMs', (option) => createFallbackEncoder({ model: null, registry: null, ...option })],
  ['waitTimeoutMs', (option) => createFallbackEncoder({ model: null, registry: null, ...option }), 0],
  ['timeoutMs', (option) => openaiModel({ ...model, ...option })],
  ['maxRetryDelayMs', (option) => openaiModel({ ...model, ...option }), 0],
  ['graceMs', (option) => createConnection(memoryChannels()[0], option), 0],
  ['heartbeatMs', (option) => createRuntime(option)],
  ['resumeWindowMs', (option) => createRuntime(option)],
  ['retentionMs', (option) => createRuntime(option)],
  ['cancelGraceMs', (option) => createRuntime({ workers: option }), 0],
  ['timeoutMs', (option) => createRuntime().tool('t', option, () => null)],
  ['backoffMs', (option) => createRuntime().tool('t', { retry: option }, () => null), 0],
  ['maxBackoffMs', (option) => createRuntime().tool('t', { retry: option }, () => null), 0],
  ['answerTimeoutMs', (option) => definePolicy(option)],
  ['maxLeaseMs', (option) => definePolicy(option)],
  ['timeoutMs', (option) => sandboxed(import.meta.url, option)],
  ['killGraceMs', (option) => sandboxed(import.meta.url, option), 0],
  ['timeoutMs', (option) => functionTarget('t', () => true, option)],
  ['timeoutMs', (option) => stops.push(processTarget('cat', option).close)],
  ['startTimeoutMs', (option) => stops.push(processTarget('cat', option).close)],
]);

/** Functions that open something: invalid values are refused before. */
const OPENING = cases([
  ['timeoutMs', (option) => postFrame(URL, '@a>req:read[q=1]', option)],
  ['handshakeTimeoutMs', (option) => connectHttp(URL, { codec, session, ...option })],
  ['exchangeTimeoutMs', (option) => connectHttp(URL, { codec, session, ...option })],
  ['heartbeatMs', (option) => connectWebSocket('ws://127.0.0.1:9/', { codec, session, ...option })],
  ['reconnect.minDelayMs', reconnect((option) => connectHttp(URL, { codec, session, ...option })), 0],
  ['reconnect.maxDelayMs', reconnect((option) => connectHttp(URL, { codec, session, ...option })), 0],
  ['requestTimeoutMs', (option) => startServer(endpoint(), { port: 0, ...option })],
  ['closeGraceMs', (option) => startServer(endpoint(), { port: 0, ...option }), 0],
  ['exitGraceMs', (option) => launchAgent('cat', [], option), 0],
  ['killGraceMs', (option) => launchAgent('cat', [], option), 0],
  ['timeoutMs', (option) => openClient(dial, option)],
  ['heartbeatMs', (option) => openClient(dial, option)],
  ['minDelayMs', reconnect((option) => openClient(dial, option)), 0],
  ['maxDelayMs', reconnect((option) => openClient(dial, option)), 0],
  ['timeoutMs', (option) => checkRuntime({ dial, ...option }).next()],
  ['timeoutMs', (option) => replayLog(dial, [], option).next()],
]);

describe.each([...OPTIONS, ...OPENING])('%s of %s', (option, use, min) => {
  const name = option.slice(option.lastIndexOf('.') + 1);
  const invalid: readonly unknown[] = [-1, Number.NaN, Number.NEGATIVE_INFINITY, '5', '', null, true, [5]];

  test.each(min === 0 ? invalid : [0, ...invalid])('refuses %j', async (value) => {
    const run = async (): Promise<unknown> => await use({ [name]: value as number });
    await expect(run()).rejects.toThrow(TypeError);
    await expect(run()).rejects.toThrow(option);
  });
});

test.each(OPTIONS)('%s of %s accepts Infinity, and more than a timer can hold', (name, use) => {
  for (const value of [Number.POSITIVE_INFINITY, 2 ** 40, 2 ** 31, 1]) use({ [name]: value });
});
