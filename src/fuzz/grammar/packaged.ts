import { readFileSync } from 'node:fs';

/**
 * The text of a grammar that comes with the package. The folder stands beside the sources, and beside what is built from them.
 *
 * @param name without its ending: `accp`
 */
export function packagedGrammar(name: string): string {
  return readFileSync(new URL(`../../../grammar/${name}.peggy`, import.meta.url), 'utf8');
}
