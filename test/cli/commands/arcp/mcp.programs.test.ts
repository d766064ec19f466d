/** `pegwire arcp serve --mcp`: MCP servers behind ARCP. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import process from 'node:process';
import { afterEach, describe, expect, test } from 'vitest';
import { type Client, connect } from '../../../../src/arcp/client/index.js';
import { ended, start } from '../../../helpers/child.js';
import { cli, PROGRAM } from '../../../helpers/cli.js';

const stopping: (() => unknown)[] = [];
afterEach(async () => {
  for (const stop of stopping.splice(0).toReversed()) await stop();
});

const ROOT = path.join(import.meta.dirname, '../../../..');
const FIXTURE = `FIXTURE='two words' ${process.execPath} ${path.join(ROOT, 'test/arcp/mcp/fixture-server.mjs')}`;
const EVERYTHING = path.join(ROOT, 'node_modules/@modelcontextprotocol/server-everything/dist/index.js');

async function served(...servers: readonly string[]): Promise<{ client: Client; stderr: () => string }> {
  const child = start([...PROGRAM, 'arcp', 'serve', '--ws', '0', ...servers.flatMap((server) => ['--mcp', server])]);
  const over = ended(child);
  let stderr = '';
  child.stderr.on('data', (chunk) => {
    stderr += String(chunk);
  });
  stopping.push(() => {
    child.kill('SIGTERM');
    return over;
  });
  const url = await new Promise<string>((resolve, reject) => {
    child.stdout.once('data', (chunk) => resolve(String(chunk).trim()));
    void over.then((end) => reject(new Error(end.stderr)));
  });
  const client = await connect(url);
  stopping.push(() => client.disconnect());
  return { client, stderr: () => stderr };
}

/** Starts the reference server over HTTP. */
async function everything(port: number): Promise<() => Promise<unknown>> {
  const child = start([process.execPath, EVERYTHING, 'streamableHttp'], {
    env: { ...process.env, PORT: String(port) },
  });
  const over = ended(child);
  const stop = (): Promise<unknown> => {
    child.kill('SIGKILL');
    return over;
  };
  stopping.push(stop);
  await new Promise<void>((resolve, reject) => {
    child.stderr.on('data', (chunk) => String(chunk).includes('listening on port') && resolve());
    void over.then((end) => reject(new Error(end.stderr)));
  });
  return stop;
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

const textOf = async (client: Client, name: string, args = {}): Promise<string> =>
  ((await client.invoke(name, args).result()) as { content: { text: string }[] }).content[0]!.text;

describe('serve --mcp', () => {
  test('serves the tools of commands, in a shell with its environment, and of no others', async () => {
    const command = `${process.execPath} ${EVERYTHING} stdio`;
    const { client } = await served(FIXTURE, command, `second.=${command}`);
    expect(await textOf(client, 'variable')).toBe('two words');
    expect(await textOf(client, 'second.echo', { message: 'hi' })).toBe('Echo: hi');
    expect(await textOf(client, 'echo', { message: 'hi' })).toBe('Echo: hi');
    // The demo tool of this name has another result.
    expect(client.session.tools!.map(({ name }) => name)).not.toContain('count');
  });

  test('starts a command again after it has ended', async () => {
    const { client, stderr } = await served(FIXTURE);
    const first = await textOf(client, 'pid');
    await expect(client.invoke('exit').result()).rejects.toMatchObject({ code: 'ABORTED', retryable: false });
    const again = (): Promise<string> => textOf(client, 'pid').catch(({ code }: { code: string }) => code);
    await expect.poll(again, { timeout: 30_000 }).toMatch(/^\d+$/);
    expect(await textOf(client, 'pid')).not.toBe(first);
    expect(stderr()).toMatch(/^warning\[mcp\]: The connection to the MCP server .* has ended; connecting again/m);
  });

  test('connects to a URL, and again after the server was restarted', async () => {
    const port = await freePort();
    const stop = await everything(port);
    const { client } = await served(`http://127.0.0.1:${port}/mcp`);
    expect(await textOf(client, 'echo', { message: 'one' })).toBe('Echo: one');
    await stop();
    await everything(port);
    const again = () => textOf(client, 'echo', { message: 'two' }).catch(({ code }: { code: string }) => code);
    await expect.poll(again, { timeout: 30_000 }).toBe('Echo: two');
  });

  test.each([
    [
      'a command that is no MCP server',
      ['false'],
      /^error\[target\]: The MCP server false cannot be used: .*onnection closed/,
    ],
    [
      'a URL without a server',
      ['http://127.0.0.1:9/mcp'],
      /^error\[unreachable\]: The MCP server http:\/\/127\.0\.0\.1:9\/mcp cannot be used: /,
    ],
  ])('refuses %s', async (_, servers, message) => {
    const { code, stderr } = await cli(['arcp', 'serve', '--ws', '0', ...servers.flatMap((one) => ['--mcp', one])]);
    expect(stderr).toMatch(message);
    expect(code).toBe(2);
  });
});
