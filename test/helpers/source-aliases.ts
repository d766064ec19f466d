/** Aliases from the entry points of the package to its sources, so that programs that import it can be compiled without a build. */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const ROOT = new URL('../../', import.meta.url);

interface Manifest {
  readonly exports: Readonly<Record<string, string | { readonly default: string }>>;
}

/** Returns the paths of sources by entry point, such as `pegwire/acp`. */
export function sourceAliases(): Record<string, string> {
  const { exports } = JSON.parse(readFileSync(new URL('package.json', ROOT), 'utf8')) as Manifest;
  const aliases: Record<string, string> = {};
  // An alias also matches longer names, so the longest come first.
  for (const name of Object.keys(exports).sort((a, b) => b.length - a.length)) {
    const target = exports[name]!;
    if (typeof target === 'string') continue;
    const source = target.default.replace(/^\.\/dist\//, '').replace(/^(src\/.*)\.js$/, '$1.ts');
    aliases[name.replace(/^\./, 'pegwire')] = fileURLToPath(new URL(source, ROOT));
  }
  return aliases;
}
