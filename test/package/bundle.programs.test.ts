import { gzipSync } from 'node:zlib';
import { build } from 'esbuild';
import { describe, expect, test } from 'vitest';

/**
 * The maximum size, minified and gzipped, of parsing, printing, validating and explaining for both protocols. The parsers take about 7,000
 * bytes of it.
 */
const BUDGET = 24_900;

/** The maximum size of `pegwire/aacp/fallback/portable`. More than half is the parser of instructions, a quarter the bundled rules. */
const FALLBACK_BUDGET = 112_000;
/** The maximum sizes of the grammar tools. Peggy is about half of each. */
const ENGINE_BUDGET = 115_000;
const LANGUAGES_BUDGET = 90_000;

async function bundle(
  code: string,
  external: string[] = [],
): Promise<{ packages: string[]; bytes: number; text: string }> {
  const result = await build({
    stdin: { contents: code, resolveDir: process.cwd(), loader: 'ts' },
    bundle: true,
    minify: true,
    format: 'esm',
    // A Node built-in is a build error on this platform.
    platform: 'browser',
    target: 'es2022',
    write: false,
    metafile: true,
    // Loaded on demand, when tokens are counted.
    external,
    logLevel: 'silent',
  });
  const packages = Object.keys(result.metafile.inputs).filter((file) => file.includes('node_modules'));
  const [output] = result.outputFiles;
  return { packages, bytes: gzipSync(output!.contents, { level: 9 }).length, text: output!.text };
}

describe('in a browser bundle', () => {
  test('both protocols import no package and no Node built-in, and are within the budget', async () => {
    const { packages, bytes } = await bundle(`
      export { parseFrame, tryParseFrame, printFrame, canonicalizeFrame, explainFrame } from './src/accp/index.ts';
      export { parsePacket, tryParsePacket, printPacket, canonicalizePacket, validatePacket, explainPacket } from './src/aacp/index.ts';
    `);
    expect(packages).toEqual([]);
    expect(bytes).toBeLessThanOrEqual(BUDGET);
  });

  test('the root entry point imports no package and no Node built-in', async () => {
    expect((await bundle(`export * from './src/index.ts';`)).packages).toEqual([]);
  });

  test('a raw generated parser imports nothing', async () => {
    for (const name of ['accp', 'aacp']) {
      const { packages, text } = await bundle(`export * from './generated/${name}.js';`);
      expect(packages).toEqual([]);
      expect(text).not.toMatch(/\bimport\b/);
    }
  });

  const HASHES = '@noble/hashes';

  // Sizes minified and gzipped, and the bundled packages.
  test.each([
    ['sessions', `export * from './src/accp/codec/index.ts';`, 83_400, [HASHES]],
    ['a codec', `export { createCodec } from './src/accp/codec/index.ts';`, 46_800, [HASHES]],
    [
      'a link over WebSocket',
      `export { connectWebSocket } from './src/accp/bindings/websocket/index.ts';`,
      28_000,
      [HASHES],
    ],
    ['a link over HTTP', `export { connectHttp } from './src/accp/bindings/http/index.ts';`, 31_000, [HASHES]],
    ['a link over A2A', `export { connectA2A } from './src/accp/bindings/a2a/index.ts';`, 32_500, [HASHES]],
    ['rendering', `export * from './src/accp/render/index.ts';`, 7_000, []],
    ['all encoders', `export * from './src/aacp/encoders/index.ts';`, 47_250, [HASHES, 'zod']],
    ['one encoder', `export { PayrollEncoder } from './src/aacp/encoders/index.ts';`, 36_700, [HASHES, 'zod']],
    ['a client of ARCP', `export * from './src/arcp/client/portable.ts';`, 34_500, ['eventsource-parser', 'zod']],
    ['a runtime of ARCP', `export * from './src/arcp/runtime/portable.ts';`, 71_500, [HASHES, 'zod']],
    ['wrapping of MCP servers', `export * from './src/arcp/mcp/index.ts';`, 14_000, ['zod']],
    ['a connection of ACP', `export * from './src/acp/portable.ts';`, 13_500, []],
    ['a client of ACP over HTTP', `export * from './src/acp/http/portable.ts';`, 10_500, ['eventsource-parser']],
  ])('%s: no Node built-in, few packages, and within the budget', async (_what, code, budget, allowed) => {
    const { packages, bytes } = await bundle(code);
    const names = new Set(packages.map((file) => /^node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(file)![1]));
    expect([...names].sort()).toEqual(allowed);
    expect(bytes).toBeLessThanOrEqual(budget);
  });

  test.each([
    ['engine', 'engine-portable.ts', ENGINE_BUDGET],
    ['languages', 'languages.ts', LANGUAGES_BUDGET],
  ])('the portable part of %s imports no Node built-in, and is within its budget', async (_name, file, budget) => {
    const { packages, bytes } = await bundle(`export * from './src/${file}';`, ['gpt-tokenizer']);
    const allowed = /^node_modules\/(moo|peggy|railroad-diagrams)\//;
    for (const one of packages) expect(one).toMatch(allowed);
    expect(bytes).toBeLessThanOrEqual(budget);
  });

  test('the fallback encoder imports no Node built-in and no zod, and is within its budget', async () => {
    const { packages, bytes } = await bundle(`export * from './src/aacp/fallback/portable.ts';`);
    for (const file of packages) expect(file).toMatch(/^node_modules\/(@noble\/hashes|moo|stemmer)\//);
    expect(bytes).toBeLessThanOrEqual(FALLBACK_BUDGET);
  });

  test('the finders import only moo', async () => {
    const { packages } = await bundle(`
      export { findFrames } from './src/accp/find.ts';
      export { findPackets } from './src/aacp/find.ts';
    `);
    expect(packages).toEqual(['node_modules/moo/moo.js']);
  });
});
