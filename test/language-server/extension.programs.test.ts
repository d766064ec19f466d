/** The extension for VS Code: the archive, and its activation with a module that stands for VS Code. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { unzipSync } from 'fflate';
import { SaxesParser } from 'saxes';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CompletionRequest } from 'vscode-languageserver-protocol';
import { buildExtension } from '../../scripts/vsix.js';
import { startClient } from './client.js';
import { standIn } from './vscode-stand-in.js';

let files: Readonly<Record<string, Uint8Array>>;
let folder: string;
beforeAll(() => {
  files = unzipSync(buildExtension());
  folder = mkdtempSync(path.join(tmpdir(), 'pegwire-vsix-'));
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(path.dirname(path.join(folder, name)), { recursive: true });
    writeFileSync(path.join(folder, name), content);
  }
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const text = (name: string): string => Buffer.from(files[name]!).toString();

describe('the archive', () => {
  it('holds the files that its manifests name, and nothing that VS Code would not load', () => {
    const manifest = JSON.parse(text('extension/package.json'));
    const { contributes, main } = manifest;
    const named = [
      main,
      ...contributes.languages.map((one: { configuration: string }) => one.configuration),
      ...contributes.grammars.map((one: { path: string }) => one.path),
    ];
    for (const name of named) expect(Object.keys(files)).toContain(path.posix.join('extension', name));
    for (const name of Object.keys(files).filter((one) => one.endsWith('.json')))
      expect(() => JSON.parse(text(name))).not.toThrow();
    expect(manifest).toMatchObject({
      name: 'pegwire',
      version: expect.stringMatching(/^\d+\.\d+\.\d+$/),
      engines: { vscode: '^1.91.0' },
    });
  });

  it('has the manifest of the marketplace, and a type for each ending', () => {
    const attributes: Record<string, string>[] = [];
    const parser = new SaxesParser();
    parser.on('opentag', ({ name, attributes: own }) => attributes.push({ name, ...(own as Record<string, string>) }));
    parser.write(text('extension.vsixmanifest')).close();
    for (const { Path: asset } of attributes.filter(({ name }) => name === 'Asset'))
      expect(Object.keys(files)).toContain(asset);
    const { name, publisher, version } = JSON.parse(text('extension/package.json'));
    expect(attributes.find((one) => one['name'] === 'Identity')).toMatchObject({
      Id: name,
      Publisher: publisher,
      Version: version,
    });
    const types = text('[Content_Types].xml');
    for (const file of Object.keys(files)) {
      const ending = path.extname(file);
      if (ending !== '.xml') expect(types).toContain(`Extension="${ending}"`);
    }
  });

  it('is the same for the same sources', () => {
    expect(
      Object.entries(unzipSync(buildExtension())).map(([name, content]) => [
        name,
        Buffer.from(content).toString('base64').length,
      ]),
    ).toEqual(Object.entries(files).map(([name, content]) => [name, Buffer.from(content).toString('base64').length]));
  });

  it('contains a server that needs nothing else', async () => {
    const client = await startClient({ command: [process.execPath, path.join(folder, 'extension/dist/server.cjs')] });
    const file = await client.open('a.accp', '@a>req:x{k:}\n');
    expect(await file.diagnostics()).toHaveLength(1);
    const grammar = await client.open('a.peggy', 'start = a\n');
    expect((await grammar.diagnostics()).map(({ code }) => code)).toEqual(['undefined-rule']);
    const position = file.after('>re');
    expect(
      await client.connection.sendRequest(CompletionRequest.type, { textDocument: file.textDocument, position }),
    ).not.toEqual([]);
    expect(await client.close()).toBe(0);
  });
});

describe('the activation', () => {
  it('starts the server, hands it the documents that are open, and shows what it reports', async () => {
    const code = standIn({ 'server.path': '', languages: ['markdown'], dialect: 'lenient' });
    const document = code.addDocument('file:///a.md', 'markdown', 'see `@a>req:x{nx:@b|k:}`');
    const extension = load(code.module);
    await extension.activate({
      asAbsolutePath: (name: string) => path.join(folder, 'extension', name),
      subscriptions: [],
    });
    const shown = await code.reported(document.uri.toString());
    // The setting `dialect` arrived, too: the mention is not an error.
    expect(shown).toEqual([expect.objectContaining({ code: 'E1001', source: 'pegwire' })]);
    expect(code.registered).toEqual(
      expect.arrayContaining([
        'Hover',
        'CompletionItem',
        'CodeActions',
        'DocumentSemanticTokens',
        'Rename',
        'Definition',
        'DocumentSymbol',
      ]),
    );
    await extension.deactivate();
  });

  it('starts another pegwire if a path is set', async () => {
    const code = standIn({ 'server.path': path.join(folder, 'missing'), languages: [] });
    const extension = load(code.module);
    await expect(extension.activate({ asAbsolutePath: (name: string) => name, subscriptions: [] })).rejects.toThrow(
      /missing|ENOENT/,
    );
  });
});

interface Extension {
  activate(context: unknown): Promise<void>;
  deactivate(): Promise<void>;
}

/** Loads the extension with a module in place of `vscode`. */
function load(vscode: unknown): Extension {
  const require = createRequire(import.meta.url);
  const Module = require('node:module') as { _load: (request: string, ...others: unknown[]) => unknown };
  const own = Module._load;
  Module._load = (request, ...others) => (request === 'vscode' ? vscode : own(request, ...others));
  try {
    const file = path.join(folder, 'extension/dist/extension.cjs');
    delete require.cache[file];
    return require(file) as Extension;
  } finally {
    Module._load = own;
  }
}
