/** Compiled and run by a project of its own that has installed the packed package: what an importer sees. */
import { writeFileSync } from 'node:fs';
import {
  canonicalizePacket,
  type Frame,
  type ParseError,
  parseFrame,
  printFrame,
  tryParsePacket,
  type Value,
} from 'pegwire';
import { validatePacket } from 'pegwire/aacp';
import { validateAsSdkPy } from 'pegwire/aacp/compat';
import { createDispatcher, memoryAudit } from 'pegwire/aacp/dispatch';
import { packet as buildPacket, encodeStep, PayrollEncoder } from 'pegwire/aacp/encoders';
import { createFallbackEncoder, type Model, memoryRegistry } from 'pegwire/aacp/fallback';
import { findPackets } from 'pegwire/aacp/find';
import { openaiCompatibleModel } from 'pegwire/aacp/models';
import { explainFrame } from 'pegwire/accp';
import { accpExecutor } from 'pegwire/accp/a2a';
import { findFrames } from 'pegwire/accp/find';
import { createEndpoint, createHandler } from 'pegwire/accp/http';
import { callTool } from 'pegwire/accp/mcp';
import { renderForContext } from 'pegwire/accp/render';
import { frameSchema } from 'pegwire/accp/schema';
import { AccpError, type Codec, createCodec, createSession, type Message } from 'pegwire/accp/session';
import { sqliteStore } from 'pegwire/accp/sqlite';
import { connectWebSocket, createWebSocketEndpoint } from 'pegwire/accp/websocket';
import { type Connection, createConnection, memoryChannels, spawnAgent } from 'pegwire/acp';
import { type AcpListener, listenAcp } from 'pegwire/acp/http';
import { connectAcp } from 'pegwire/acp/http/portable';
import { LineDecoder } from 'pegwire/acp/portable';
import { type Envelope, parseEnvelope } from 'pegwire/arcp';
import { openClient } from 'pegwire/arcp/client';
import { CHECKS } from 'pegwire/arcp/conformance';
import { wrapMcp } from 'pegwire/arcp/mcp';
import { createRuntime, sandboxed } from 'pegwire/arcp/runtime';
import { compileGrammar, exportGrammar, generateSentences } from 'pegwire/engine';
import * as aacp from 'pegwire/generated/aacp';
import * as accp from 'pegwire/generated/accp';
import { accpLanguage } from 'pegwire/languages';
import { loadTokenCounter } from 'pegwire/tokens';

const value = parseFrame('@a>b:c{k:[1,x]}').payload[0].value;
let seen = '';
switch (value.kind) {
  case 'array': {
    const items: readonly Value[] = value.items;
    seen = `array of ${items.length}`;
    break;
  }
  case 'integer': {
    const number: number | bigint = value.value;
    seen = String(number);
    break;
  }
  case 'ref':
    seen = value.path;
    break;
  case 'null':
    // @ts-expect-error: a null node has no value
    seen = value.value;
    break;
  default:
    seen = value.kind;
}
// @ts-expect-error: only an array has items
void value.items;
// @ts-expect-error: nodes are read-only
value.kind = 'map';
// @ts-expect-error: no such dialect
export const wrong = (): Frame => parseFrame('@a>b:c{}', { dialect: 'loose' });

const raw: Frame = accp.parse('@a>b:c{k:@dev}', { dialect: 'lenient', spans: true });
// @ts-expect-error: no such option
void accp.parse('@a>b:c{}', { dialekt: 'lenient' });
const packet = aacp.parse('ACK|HR|return:A');
try {
  accp.parse('nothing');
} catch (error) {
  if (!(error instanceof accp.SyntaxError)) throw error;
  seen += ` ${error.location.start.offset}`;
}

// @ts-expect-error: no packet
const noFrame = (): string => printFrame(packet);
if (printFrame(raw) !== '@a>b:c{k:\\@dev}') throw new Error(noFrame.name);

const result = tryParsePacket('ACK|HR|return:A|');
if (result.ok) throw new Error('accepted');
const error: ParseError = result.error;

const codec: Codec = createCodec({ counter: await loadTokenCounter('o200k_base') });
const store = await sqliteStore('sessions.db');
const [sender, receiver] = ['a', 'b'].map((agent) => createSession({ agent, id: 's', store }));
const sent = codec.encode({ intent: 'req', operation: 'plan', payload: { goal: 'launch' } }, sender);
const outcome = codec.decode(sent.frames[0], receiver);
// @ts-expect-error: only some outcomes have a message
void outcome.message;
if (outcome.outcome !== 'message') throw new Error(outcome.outcome);
const message: Message = outcome.message;
let refused = '';
try {
  codec.encode({ intent: 'req', operation: 'plan', payload: { goal: 'to fly' } }, sender);
} catch (thrown) {
  if (!(thrown instanceof AccpError)) throw thrown;
  refused = `${thrown.code} ${thrown.path}`;
}
for (const session of [sender, receiver]) session.close();
store.close();

interface Row {
  task: string;
  domain: string;
  return: string;
  p: 1 | 2 | 3;
  org_batch?: string;
}
const row: Row = { task: 'ACK', domain: 'HR', return: 'A', p: 1 };
const built = buildPacket(row);
// @ts-expect-error: `return` is missing
const returnless = () => buildPacket({ task: 'ACK', domain: 'HR' });
const hops = encodeStep('PayrollEncoder', 'full_run', { period: '2024-08', prev_period: '2024-07' });
// @ts-expect-error: no such input
const wrongInput = () => PayrollEncoder.fetch_employees({ perod: '2024-08' });
const model = openaiCompatibleModel({ baseUrl: 'http://127.0.0.1:9/v1', model: 'none' });
const plain: Model = ({ prompt }) => prompt;
// @ts-expect-error: a number is not a reply of a model
const numeral: Model = () => 5;
const encoder = createFallbackEncoder({ registry: memoryRegistry(), model: numeral === plain ? plain : model });
const encoded = await encoder.encode('Retrieve the employee salary records for August 2024', { domain: 'HR' });
await encoder.close();
// @ts-expect-error: `audit` is missing
const logless = () => createDispatcher({ deliver: () => 'done' });
const dispatched = await createDispatcher({ deliver: () => 'done', audit: memoryAudit() }).dispatch(built);
if (encoded.tier !== 'pattern' || hops.length !== 6 || !dispatched.ok)
  throw new Error(wrongInput.name + returnless.name + logless.name);

const progress: Envelope = parseEnvelope(
  '{"arcp":"1.0","id":"m","type":"job.progress","job_id":"j","timestamp":"2026-05-07T21:30:00Z","payload":{"percent":42}}',
);
// @ts-expect-error: members without a schema are unknown
const percentage = () => progress.payload['percentage'].toFixed();
if (CHECKS.length < 40 || progress.type !== 'job.progress' || progress.payload.percent?.toFixed() !== '42')
  throw new Error(percentage.name);

const [here, there] = memoryChannels();
const agent: Connection = createConnection(there, { handlers: { twice: ({ n }: { n: number }) => 2 * n } });
const client = createConnection(here);
const [twice] = await client.batch([{ method: 'twice', params: { n: 21 } }]);
// @ts-expect-error: what failed has no value
void twice.value;
// @ts-expect-error: a method has a name
const nameless = () => client.batch([{ params: [] }]);
await client.close();
await agent.closed;
const listener: AcpListener = await listenAcp((channel) =>
  createConnection(channel, { handlers: { initialize: () => ({ protocolVersion: 1 }) } }),
);
const remote = createConnection(connectAcp(listener.http));
const { protocolVersion } = (await remote.request('initialize')) as { protocolVersion: number };
// @ts-expect-error: only the client for Node has certificates
const trusting = () => connectAcp(listener.http, { ca: '' });
if (protocolVersion !== 1) throw new Error(trusting.name);
await remote.close();
await listener.close();
const endpoint = createEndpoint({
  codec,
  agent: 'echo',
  handle: ({ payload }) => ({ intent: 'done', operation: 'a', payload }),
});
const answer = await createHandler(endpoint)(
  new Request('http://host/accp/v1/frames', {
    method: 'POST',
    headers: { 'content-type': 'application/accp' },
    body: '@me>req:a{n:1}[mid:a1,seq:1]',
  }),
);
createWebSocketEndpoint(endpoint);
endpoint.close();
const bound = [connectWebSocket, callTool, accpExecutor, spawnAgent, LineDecoder, wrapMcp].every(
  (one) => typeof one === 'function',
);
if (twice.status !== 'fulfilled' || twice.value !== 42 || answer.status !== 200 || !bound)
  throw new Error(nameless.name);

const module = new URL('tool.mjs', import.meta.url);
writeFileSync(module, 'export default ({ a, b }) => a * b;');
const runtime = createRuntime()
  .tool('add', {}, ({ a, b }) => Number(a) + Number(b))
  .tool('multiply', {}, sandboxed(module));
const caller = await openClient(() => {
  const [here, there] = memoryChannels();
  void runtime.accept(there);
  return here;
});
if ((await caller.invoke('add', { a: 1, b: 2 }).result()) !== 3) throw new Error('no sum');
if ((await caller.invoke('multiply', { a: 2, b: 3 }).result()) !== 6) throw new Error('no product');
await caller.close();
await runtime.close();

console.log(
  JSON.stringify([
    message.payload.goal,
    sent.tokens.exact,
    refused,
    renderForContext(message).text.includes('launch'),
    seen,
    printFrame(raw),
    packet.fields[0].value,
    canonicalizePacket(packet).task,
    error.code,
    validatePacket('FECH|HR').warnings[0].help,
    validateAsSdkPy('').valid,
    findFrames('see @a>b:c{}')[0].start,
    findPackets('see ACK|HR|return:A now')[0].text,
    explainFrame(raw).length > 0,
    exportGrammar(compileGrammar('bit = [01]'), { to: 'regex' }).includes('[01]'),
    frameSchema.safeParse(raw).success,
    [...generateSentences(accpLanguage({ intents: ['req'] }).grammar, { count: 2 })].every((text) =>
      text.includes('>req:'),
    ),
  ]),
);
