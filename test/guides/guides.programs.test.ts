/** The programs in the guides run without changes. */
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { afterAll, describe, expect, test } from 'vitest';
import { hasQuic } from '../helpers/quic.js';
import { sourceAliases } from '../helpers/source-aliases.js';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const GUIDES = [
  'aacp/bindings/http',
  'aacp/bindings/mcp',
  'aacp/bindings/a2a',
  'acp',
  'acp/http',
  'arcp',
  'arcp/mcp',
  // The package has no binary for some platforms.
  ...(hasQuic ? ['arcp/quic'] : []),
  'accp/bindings/http',
  'accp/bindings/websocket',
  'accp/bindings/mcp',
  'accp/bindings/a2a',
  'accp/render',
  'accp/serve',
  'channels',
  'frameworks',
];

const folder = mkdtempSync(path.join(tmpdir(), 'pegwire-guides-'));
symlinkSync(path.join(ROOT, 'node_modules'), path.join(folder, 'node_modules'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Returns the programs in a guide, with names for their tests. */
function programsOf(guide: string): { readonly name: string; readonly code: string }[] {
  const text = readFileSync(path.join(ROOT, 'src', guide, 'README.md'), 'utf8');
  return [...text.matchAll(/^```ts\n([\s\S]*?)^```$/gm)].map(([, code], index) => ({
    name: `${guide.replaceAll('/', '-')}-${index + 1}`,
    code: code!,
  }));
}

async function run(name: string, code: string): Promise<{ code: number | null; output: string }> {
  const outfile = path.join(folder, `${name}.mjs`);
  await build({
    stdin: { contents: code, loader: 'ts', resolveDir: folder },
    ...{ outfile, bundle: true, packages: 'external', platform: 'node', format: 'esm', alias: sourceAliases() },
  });
  // Programs that start the minimal agent use its path in the project.
  const child = spawn(process.execPath, [outfile], { cwd: ROOT, stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (output += chunk));
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (status) => resolve({ code: status, output }));
  });
}

describe.each(GUIDES)('src/%s/README.md', (guide) => {
  const programs = programsOf(guide);

  test('has programs', () => {
    expect(programs).not.toEqual([]);
  });

  test.concurrent.each(programs)('$name runs', async ({ name, code }) => {
    const result = await run(name, code);
    expect(result.code, result.output).toBe(0);
  });
});
