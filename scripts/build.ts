/**
 * Builds the package in dist/: compiles the sources and their types, copies generated/, and bundles the language server.
 *
 *     npm run build
 */
import { spawnSync } from 'node:child_process';
import { chmodSync, copyFileSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { build, transformSync } from 'esbuild';
import ts from 'typescript';
import { buildInspectorPage } from './inspector-page.js';
import { packPlayground } from './playground.js';

const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)));
const dist = path.join(root, 'dist');
const compiler = path.join(root, 'node_modules/@typescript/native/bin/tsc');

rmSync(dist, { recursive: true, force: true });
const { status } = spawnSync(process.execPath, [compiler, '-p', path.join(root, 'tsconfig.build.json')], {
  stdio: 'inherit',
});
if (status !== 0) process.exit(status ?? 1);

mkdirSync(path.join(dist, 'generated'), { recursive: true });
for (const file of readdirSync(path.join(root, 'generated'))) {
  if (/\.(js|d\.ts)$/.test(file)) copyFileSync(path.join(root, 'generated', file), path.join(dist, 'generated', file));
}
withoutComments();
await bundleLanguageServer();
onlyPublicDeclarations();
await buildInspectorPage(path.join(dist, 'inspector'));
chmodSync(path.join(dist, 'src/cli/main.js'), 0o755);
await packPlayground();

/**
 * Replaces the language server by one file with the packages of its protocol, so that nothing else has to be installed for it. It imports the rest
 * of the library.
 */
async function bundleLanguageServer(): Promise<void> {
  const source = path.join(root, 'src/language-server');
  const target = path.join(dist, 'src/language-server');
  rmSync(target, { recursive: true });
  await build({
    entryPoints: [path.join(source, 'server.ts')],
    outfile: path.join(target, 'server.js'),
    ...{ bundle: true, minify: true, platform: 'node', format: 'esm', target: 'node20', legalComments: 'none' },
    external: ['moo', 'peggy'],
    // The packages are CommonJS.
    banner: { js: "import { createRequire } from 'node:module';const require = createRequire(import.meta.url);" },
    plugins: [
      {
        name: 'library',
        setup: ({ onResolve }) => {
          onResolve({ filter: /^\.\.?\// }, ({ path: name, resolveDir, kind }) => {
            const file = path.resolve(resolveDir, name);
            const isOwn = file.startsWith(`${source}${path.sep}`) || file.includes('node_modules');
            const fromTarget = path.relative(source, file).split(path.sep).join('/');
            return isOwn || kind === 'entry-point' ? null : { path: fromTarget, external: true };
          });
        },
      },
    ],
  });
}

/** Removes comments from JavaScript, a sixth of the package. The declarations keep them for users. */
function withoutComments(): void {
  for (const file of filesOf('.js')) {
    const { code } = transformSync(readFileSync(file, 'utf8'), { charset: 'utf8', legalComments: 'inline' });
    writeFileSync(file, code);
  }
}

/** Removes declarations that no entry point imports, such as those of the command line. */
function onlyPublicDeclarations(): void {
  const { exports } = JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8')) as {
    readonly exports: Readonly<Record<string, string | { readonly types: string }>>;
  };
  const reached = new Set(
    Object.values(exports).flatMap((entry) => (typeof entry === 'string' ? [] : [path.join(root, entry.types)])),
  );
  for (const file of reached) {
    for (const { fileName } of ts.preProcessFile(readFileSync(file, 'utf8')).importedFiles) {
      if (fileName.startsWith('.')) reached.add(path.resolve(path.dirname(file), fileName.replace(/\.js$/, '.d.ts')));
    }
  }
  for (const file of filesOf('.d.ts')) if (!reached.has(file)) rmSync(file);
}

function filesOf(ending: string): readonly string[] {
  return readdirSync(dist, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith(ending))
    .map((name) => path.join(dist, name));
}
