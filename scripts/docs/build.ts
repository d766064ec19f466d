/**
 * Builds the documentation site in docs-dist/, and checks every link of it.
 *
 *     npm run docs
 *     npm run docs -- --base /pegwire/       for a site in a folder of its host
 *     npm run docs -- --pages                only the pages, in .docs/: `npx vitepress dev scripts/docs` shows them
 */
import path from 'node:path';
import { parseArgs } from 'node:util';
import { build } from 'vitepress';
import { siteProblems } from '../links.js';
import { assemble } from './assemble.js';
import { ROOT } from './repository.js';

async function main(): Promise<number> {
  const { values } = parseArgs({ options: { base: { type: 'string', default: '/' }, pages: { type: 'boolean' } } });
  const pages = await assemble();
  console.log(`${pages.length} pages are assembled.`);
  if (values.pages) return 0;
  await build(path.join(ROOT, 'scripts/docs'), { base: values.base });
  const problems = await siteProblems(path.join(ROOT, 'docs-dist'), values.base);
  for (const problem of problems) console.error(problem);
  return problems.length === 0 ? 0 : 1;
}

process.exitCode = await main();
