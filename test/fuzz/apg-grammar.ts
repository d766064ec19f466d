/** The ABNF grammars of pegwire, compiled for apg-js. */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import type { default as Apg } from 'apg-js';
import { projectRoot } from '../../bench/root.js';
import { parseAbnf, withCoreRules } from '../../src/grammar-export/abnf/parse.js';
import { printAbnf } from '../../src/grammar-export/abnf/print.js';

export interface ApgGrammar {
  readonly apgLib: (typeof Apg)['apgLib'];
  readonly grammar: object;
}

/**
 * Compiles `grammar/NAME.abnf`. apg-js does not know the core rules, so they are added.
 *
 * @throws if apg-js is not installed, or rejects the grammar
 */
export async function compileAbnf(name: 'accp' | 'aacp'): Promise<ApgGrammar> {
  const { apgApi, apgLib } = (await import('apg-js')).default;
  const text = readFileSync(path.join(projectRoot(), `grammar/${name}.abnf`), 'utf8');
  const api = new apgApi(printAbnf(withCoreRules(parseAbnf(text)), { lineEnd: '\r\n' }));
  api.generate();
  if (api.errors.length > 0) throw new Error(`apg-js refuses the ABNF: ${JSON.stringify(api.errors)}`);
  return { apgLib, grammar: api.toObject() };
}
