/** What the package's names stand for in its own sources: programs that import it by name can be compiled without a build. */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const ROOT = new URL('../../', import.meta.url);

interface Manifest {
  readonly exports: Readonly<Record<string, string | { readonly default: string }>>;
}

/** `pegwire/acp` and the like, each with the path of a source. */
export function sourceAliases(): Record<string, string> {
  const { exports } = JSON.parse(readFileSync(new URL('package.json', ROOT), 'utf8')) as Manifest;
  const aliases: Record<string, string> = {};
  // An alias is taken for all that begins with it, so the longer ones come first.
  for (const name of Object.keys(exports).sort((a, b) => b.length - a.length)) {
    const target = exports[name]!;
    if (typeof target === 'string') continue;
    const source = target.default.replace(/^\.\/dist\//, '').replace(/^(src\/.*)\.js$/, '$1.ts');
    aliases[name.replace(/^\./, 'pegwire')] = fileURLToPath(new URL(source, ROOT));
  }
  return aliases;
}
