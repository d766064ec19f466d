import { gzipSync } from 'node:zlib';
import { build } from 'esbuild';
import { describe, expect, test } from 'vitest';

/**
 * Bytes after minification and gzip that a page may pay for parsing, printing, validating and explaining both protocols. The
 * parsers are about 7,000 of it.
 */
const BUDGET = 22_250;

/** The same for `pegwire/aacp/fallback/portable`. More than half is the parser of instructions, a quarter the bundled rules. */
const FALLBACK_BUDGET = 112_000;
/** The same for all tools for grammars: Peggy is about half of each. */
const ENGINE_BUDGET = 115_000;
const LANGUAGES_BUDGET = 88_000;

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
    // Loaded when tokens are counted.
    external,
    logLevel: 'silent',
  });
  const packages = Object.keys(result.metafile.inputs).filter((file) => file.includes('node_modules'));
  const [output] = result.outputFiles;
  return { packages, bytes: gzipSync(output!.contents, { level: 9 }).length, text: output!.text };
}

describe('in a browser bundle', () => {
  test('both protocols need no package and no Node built-in, and fit the budget', async () => {
    const { packages, bytes } = await bundle(`
      export { parseFrame, tryParseFrame, printFrame, canonicalizeFrame, explainFrame } from './src/accp/index.ts';
      export { parsePacket, tryParsePacket, printPacket, canonicalizePacket, validatePacket, explainPacket } from './src/aacp/index.ts';
    `);
    expect(packages).toEqual([]);
    expect(bytes).toBeLessThanOrEqual(BUDGET);
  });

  test('the whole root entry needs no package and no Node built-in', async () => {
    expect((await bundle(`export * from './src/index.ts';`)).packages).toEqual([]);
  });

  test('a raw generated parser imports nothing', async () => {
    for (const name of ['accp', 'aacp']) {
      const { packages, text } = await bundle(`export * from './generated/${name}.js';`);
      expect(packages).toEqual([]);
      expect(text).not.toMatch(/\bimport\b/);
    }
  });

  test('sessions need zod and hashes, and no Node built-in', async () => {
    const { packages } = await bundle(`
      export * from './src/accp/codec/index.ts';
      export * from './src/accp/render/index.ts';
    `);
    const names = new Set(packages.map((file) => /^node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(file)![1]));
    expect([...names].sort()).toEqual(['@noble/hashes', 'zod']);
  });

  test.each([
    ['http', 'connectHttp'],
    ['a2a', 'connectA2A'],
    ['websocket', 'connectWebSocket'],
  ])('a link over %s needs what sessions need, and no Node built-in', async (binding, name) => {
    const { packages } = await bundle(`export { ${name} } from './src/accp/bindings/${binding}/index.ts';`);
    for (const file of packages) expect(file).toMatch(/^node_modules\/(@noble\/hashes|zod)\//);
  });

  test.each([
    ['engine', 'engine-portable.ts', ENGINE_BUDGET],
    ['languages', 'languages.ts', LANGUAGES_BUDGET],
  ])('the portable half of %s needs no Node built-in, and fits its budget', async (_name, file, budget) => {
    const { packages, bytes } = await bundle(`export * from './src/${file}';`, ['gpt-tokenizer']);
    const allowed = /^node_modules\/(moo|peggy|railroad-diagrams)\//;
    for (const one of packages) expect(one).toMatch(allowed);
    expect(bytes).toBeLessThanOrEqual(budget);
  });

  test('the fallback encoder needs no Node built-in and no zod, and fits its budget', async () => {
    const { packages, bytes } = await bundle(`export * from './src/aacp/fallback/portable.ts';`);
    for (const file of packages) expect(file).toMatch(/^node_modules\/(@noble\/hashes|moo|stemmer)\//);
    expect(bytes).toBeLessThanOrEqual(FALLBACK_BUDGET);
  });

  test('the finders need moo and nothing else', async () => {
    const { packages } = await bundle(`
      export { findFrames } from './src/accp/find.ts';
      export { findPackets } from './src/aacp/find.ts';
    `);
    expect(packages).toEqual(['node_modules/moo/moo.js']);
  });
});
