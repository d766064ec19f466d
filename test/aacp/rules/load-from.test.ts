import { createHash } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { fetchRules, loadRulesFile } from '../../../src/aacp/rules/index.js';
import { COMMUNITY } from './rule-sources.js';

const TEXT = JSON.stringify({ rules: COMMUNITY });
const SHA256 = sha256Of(TEXT);

function sha256Of(data: string | Uint8Array): string {
  return createHash('sha256').update(data).digest('hex');
}

describe('rules from a file', () => {
  let folder = '';

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'rules-'));
  });
  afterAll(() => rm(folder, { recursive: true }));

  async function fileWith(data: string | Uint8Array): Promise<string> {
    const path = join(folder, `${sha256Of(data).slice(0, 8)}.json`);
    await writeFile(path, data);
    return path;
  }

  it('are those of the file', async () => {
    const path = await fileWith(TEXT);
    const library = await loadRulesFile(path, { sha256: SHA256 });
    expect(library.rules).toHaveLength(COMMUNITY.length);
    expect((await loadRulesFile(pathToFileURL(path))).hash).toBe(library.hash);
  });

  it('are pinned by the bytes of the file, including its byte order mark', async () => {
    const path = await fileWith(`\uFEFF${TEXT}`);
    await expect(loadRulesFile(path, { sha256: SHA256 })).rejects.toMatchObject({ code: 'hash-mismatch' });
    expect((await loadRulesFile(path, { sha256: sha256Of(`\uFEFF${TEXT}`) })).rules).toHaveLength(COMMUNITY.length);
  });

  it('are rejected if the file is missing, or is not JSON or UTF-8', async () => {
    await expect(loadRulesFile(await fileWith('rules: []'))).rejects.toMatchObject({ code: 'bad-rules' });
    await expect(loadRulesFile(await fileWith(Uint8Array.of(0x5b, 0xff, 0x5d)))).rejects.toMatchObject({
      code: 'bad-rules',
    });
    await expect(loadRulesFile(join(folder, 'none.json'))).rejects.toMatchObject({ code: 'rules-unavailable' });
    await expect(loadRulesFile(folder)).rejects.toMatchObject({ code: 'rules-unavailable' });
  });
});

describe('rules from a server', () => {
  let server: Server;
  let origin = '';
  const asked: string[] = [];

  beforeAll(async () => {
    server = createServer((request, response) => {
      asked.push(request.url ?? '');
      if (request.url?.startsWith('/rules')) response.end(TEXT);
      else if (request.url === '/slow') response.write('[');
      else response.writeHead(404).end('no');
    });
    await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready));
    origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  afterAll(() => {
    server.closeAllConnections();
    server.close();
  });

  it('are those that were pinned', async () => {
    const library = await fetchRules(`${origin}/rules.json`, { sha256: SHA256 });
    expect(library.rules).toHaveLength(COMMUNITY.length);
    expect((await fetchRules(new URL(`${origin}/rules`), { sha256: SHA256, maxBytes: TEXT.length })).reports).toEqual(
      [],
    );
  });

  it('are rejected if they differ from the pin, or exceed the limit', async () => {
    await expect(fetchRules(`${origin}/rules`, { sha256: sha256Of('other') })).rejects.toMatchObject({
      code: 'hash-mismatch',
    });
    await expect(fetchRules(`${origin}/rules`, { sha256: SHA256, maxBytes: TEXT.length - 1 })).rejects.toMatchObject({
      code: 'rules-too-large',
    });
  });

  it('are rejected if there are none, without a secret of the address in the error', async () => {
    const address = `${origin}/none?token=s3cret`;
    const error = await fetchRules(address, { sha256: SHA256 }).catch((reason: unknown) => reason as Error);
    expect(error).toMatchObject({
      code: 'rules-unavailable',
      message: expect.stringContaining('the server replied with status 404'),
    });
    expect(JSON.stringify(error)).not.toContain('s3cret');
  });

  it('are rejected if no server answers', async () => {
    await expect(
      fetchRules('http://localhost/rules', {
        sha256: SHA256,
        fetch: () => Promise.reject(new Error('connection refused')),
      }),
    ).rejects.toMatchObject({ code: 'rules-unavailable', message: expect.stringContaining('connection refused') });
  });

  it('are not waited for after the caller cancels', async () => {
    const controller = new AbortController();
    const loading = fetchRules(`${origin}/slow`, { sha256: SHA256, signal: controller.signal });
    controller.abort(new Error('enough'));
    await expect(loading).rejects.toThrow('enough');
  });

  it('are not requested without a pin', async () => {
    const before = asked.length;
    for (const options of [undefined, {}, { sha256: 'abc' }]) {
      await expect(fetchRules(`${origin}/rules`, options as never)).rejects.toThrow(TypeError);
    }
    expect(asked).toHaveLength(before);
  });

  it.each(['file:///etc/rules.json', 'rules.json', 'data:application/json,[]', ''])(
    'are loaded over http only, not from %j',
    async (url) => {
      await expect(fetchRules(url, { sha256: SHA256 })).rejects.toThrow(/^url must be /);
    },
  );

  it.each([0, -1, 1.5, Number.NaN])('reject an invalid maxBytes: %d', async (maxBytes) => {
    await expect(fetchRules(`${origin}/rules`, { sha256: SHA256, maxBytes })).rejects.toThrow(/^maxBytes must be /);
  });
});
