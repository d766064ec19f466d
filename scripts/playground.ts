/**
 * Builds the playground.
 *
 *     npm run playground                     compressed, in dist/playground/, as `pegwire playground` serves it
 *     npm run playground -- --site FOLDER    static files for any web server, with the tables of the tokenizers
 */
import { createHash } from 'node:crypto';
import {
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { gzipSync } from 'node:zlib';
import { buildSync } from 'esbuild';
import { build, type Plugin } from 'vite';
import { aacpEditor } from '../src/aacp/language/language.js';
import { accpEditor } from '../src/accp/language/language.js';
import { codeMirrorMode } from '../src/grammar-export/codemirror.js';
import type { EditorLanguage } from '../src/grammar-export/token-table.js';

const ROOT = fileURLToPath(new URL('../', import.meta.url));
const SOURCE = path.join(ROOT, 'src/playground');
const TOKENIZERS = ['o200k_base', 'cl100k_base', 'p50k_base', 'r50k_base'];

const json: EditorLanguage = {
  name: 'JSON',
  id: 'json',
  fileTypes: ['json'],
  table: {
    states: {
      main: {
        key: /"(?:[^"\\\n]|\\.)*"(?=\s*:)/,
        string: /"(?:[^"\\\n]|\\.)*"/,
        number: /-?[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?/,
        word: ['true', 'false', 'null'],
        sign: ['{', '}', '[', ']', ',', ':'],
        space: /[ \t]+/,
      },
    },
    start: 'main',
  },
  scopes: {
    key: { textMate: 'support.type.property-name', codeMirror: 'propertyName' },
    string: { textMate: 'string.quoted.double', codeMirror: 'string' },
    number: { textMate: 'constant.numeric', codeMirror: 'number' },
    word: { textMate: 'constant.language', codeMirror: 'bool' },
    sign: { textMate: 'punctuation.separator', codeMirror: 'separator' },
    space: { textMate: 'text', codeMirror: 'content' },
  },
};

const peg: EditorLanguage = {
  name: 'Peggy',
  id: 'peg',
  fileTypes: ['peggy'],
  table: {
    states: {
      main: {
        comment: /\/\/[^\n]*|\/\*(?:[^*\n]|\*(?!\/))*\*\//,
        string: /"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'/,
        class: /\[(?:[^\]\\\n]|\\.)*\]i?/,
        rule: /[A-Za-z_$][A-Za-z0-9_$]*(?=\s*(?:"[^"\n]*")?\s*=)/,
        name: /[A-Za-z_][A-Za-z0-9_]*/,
        number: /[0-9]+/,
        sign: /[=/*+?!&@$().|{}:;,<>\-[\]^%~\\]/,
        space: /[ \t]+/,
      },
    },
    start: 'main',
  },
  scopes: {
    comment: { textMate: 'comment', codeMirror: 'comment' },
    string: { textMate: 'string', codeMirror: 'string' },
    class: { textMate: 'string.regexp', codeMirror: 'number' },
    rule: { textMate: 'entity.name.function', codeMirror: 'typeName' },
    name: { textMate: 'variable', codeMirror: 'variableName' },
    number: { textMate: 'constant.numeric', codeMirror: 'number' },
    sign: { textMate: 'punctuation.separator', codeMirror: 'separator' },
    space: { textMate: 'text', codeMirror: 'content' },
  },
};

/** The module `virtual:modes`: the highlighting of the editors, exported as for any other CodeMirror. */
const modes: Plugin = {
  name: 'modes',
  resolveId: (id) => (/^virtual:modes/.test(id) ? `\0${id}` : null),
  load: (id) => {
    if (id === '\0virtual:modes')
      return LANGUAGES.map(({ id: name }) => `export { ${name} } from 'virtual:modes/${name}';`).join('\n');
    const language = LANGUAGES.find(({ id: name }) => id === `\0virtual:modes/${name}`);
    return language === undefined ? null : codeMirrorMode(language);
  },
};
const LANGUAGES = [accpEditor, aacpEditor, json, peg];

/** Builds static files in a folder. */
export async function buildPlayground(folder: string): Promise<void> {
  await build({
    root: SOURCE,
    base: './',
    configFile: false,
    logLevel: 'warn',
    plugins: [modes],
    worker: { format: 'es' },
    build: {
      outDir: folder,
      emptyOutDir: true,
      target: 'es2022',
      assetsInlineLimit: 0,
      modulePreload: { polyfill: false },
      chunkSizeWarningLimit: 1000,
    },
  });
  const bundle = (name: string, define: Record<string, string> = {}): void => {
    buildSync({
      entryPoints: [path.join(SOURCE, `sandbox/${name}.ts`)],
      outfile: path.join(folder, `${name}.js`),
      ...{
        bundle: true,
        minify: true,
        format: 'iife',
        platform: 'browser',
        target: 'es2022',
        logLevel: 'warning',
        define,
      },
      external: ['gpt-tokenizer'],
    });
  };
  bundle('engine');
  bundle('frame');
  const frame = path.join(folder, 'frame.js');
  const script = readFileSync(frame, 'utf8').trim();
  const html = readFileSync(path.join(SOURCE, 'frame.html'), 'utf8').replace('/* frame.ts */', () => script);
  writeFileSync(path.join(folder, 'frame.html'), html);
  rmSync(frame);
  const files = filesOf(folder);
  const hash = createHash('sha256');
  for (const file of files) hash.update(file).update(readFileSync(path.join(folder, file)));
  bundle('service-worker', {
    FILES: JSON.stringify(['./', ...files]),
    VERSION: JSON.stringify(hash.digest('hex').slice(0, 12)),
  });
}

/** Adds the tables of the tokenizers, from the package gpt-tokenizer. */
export function addTokenizers(folder: string): void {
  const require = createRequire(import.meta.url);
  const commonJs = path.dirname(require.resolve('gpt-tokenizer/bpeRanks/o200k_base'));
  const tables = commonJs.replace(/([\\/])cjs([\\/]|$)/, '$1esm$2');
  mkdirSync(path.join(folder, 'tokenizers'), { recursive: true });
  for (const name of TOKENIZERS)
    copyFileSync(path.join(tables, `${name}.js`), path.join(folder, 'tokenizers', `${name}.js`));
}

/** Builds a folder, by default `dist/playground/`: compressed files only, since they are a part of the package. */
export async function packPlayground(folder: string = path.join(ROOT, 'dist/playground')): Promise<void> {
  const built = mkdtempSync(path.join(tmpdir(), 'pegwire-playground-'));
  try {
    await buildPlayground(built);
    rmSync(folder, { recursive: true, force: true });
    for (const file of filesOf(built)) {
      const target = path.join(folder, `${file}.gz`);
      mkdirSync(path.dirname(target), { recursive: true });
      writeFileSync(target, gzipSync(readFileSync(path.join(built, file)), { level: 9 }));
    }
  } finally {
    rmSync(built, { recursive: true, force: true });
  }
}

function filesOf(folder: string): readonly string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((file) => statSync(path.join(folder, file)).isFile())
    .map((file) => file.replaceAll('\\', '/'))
    .toSorted();
}

async function main(): Promise<void> {
  const { values } = parseArgs({ options: { site: { type: 'string' } } });
  if (values.site === undefined) {
    await packPlayground();
    return;
  }
  await buildPlayground(path.resolve(values.site));
  addTokenizers(path.resolve(values.site));
}

if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(process.argv[1]).href) await main();
