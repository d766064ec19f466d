/**
 * Builds the page of the inspector: one script, one style sheet and the document, compressed, since the package contains them so.
 *
 *     npx tsx scripts/inspector-page.ts FOLDER
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { gzipSync } from 'node:zlib';
import { build } from 'esbuild';

const PAGE = fileURLToPath(new URL('../src/inspector/page', import.meta.url));

/** Builds the page in a folder. @returns the bytes of each file, compressed */
export async function buildInspectorPage(folder: string): Promise<Readonly<Record<string, number>>> {
  const { outputFiles } = await build({
    entryPoints: [path.join(PAGE, 'main.tsx'), path.join(PAGE, 'main.css')],
    ...{ outdir: folder, bundle: true, minify: true, write: false, format: 'esm', target: 'es2022', charset: 'utf8' },
    ...{ jsx: 'automatic', jsxImportSource: 'preact', legalComments: 'none' },
  });
  const files = [
    { name: 'index.html', bytes: readFileSync(path.join(PAGE, 'index.html')) },
    ...outputFiles.map(({ path: file, contents }) => ({ name: path.basename(file), bytes: contents })),
  ];
  mkdirSync(folder, { recursive: true });
  const sizes = files.map(({ name, bytes }) => {
    const packed = gzipSync(bytes, { level: 9 });
    writeFileSync(path.join(folder, `${name}.gz`), packed);
    return [name, packed.length] as const;
  });
  return Object.fromEntries(sizes);
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href)
  console.log(await buildInspectorPage(process.argv[2] ?? 'dist/inspector'));
