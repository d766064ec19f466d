/**
 * Checks the links of all Markdown files of the repository: the file has to be there, and in it the heading.
 *
 *     npm run docs:links
 */
import { existsSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { anchorsOf, linksOf } from './docs/markdown.js';
import { markdownFiles, ROOT, repositoryAddress } from './docs/repository.js';

/** Returns a line for each dead link of the Markdown files. */
export async function markdownProblems(): Promise<readonly string[]> {
  const address = await repositoryAddress();
  const problems: string[] = [];
  for (const file of markdownFiles()) {
    for (const { target, line } of linksOf(await readFile(path.join(ROOT, file), 'utf8'))) {
      const problem = await problemOf(target, file, address);
      if (problem !== null) problems.push(`${file}:${line}: ${target}: ${problem}`);
    }
  }
  return problems;
}

async function problemOf(target: string, file: string, address: string): Promise<string | null> {
  const own = target.startsWith(`${address}/`) ? /\/(?:blob|tree)\/main\/(.*)/.exec(target)?.[1] : undefined;
  if (own === undefined && /^[a-z]+:/i.test(target)) return null;
  const [name = '', anchor] = decodeURI(own ?? target).split('#');
  const linked = own !== undefined ? name : name === '' ? file : path.posix.join(path.posix.dirname(file), name);
  if (!existsSync(path.join(ROOT, linked))) return `there is no ${linked}`;
  if (anchor === undefined || !linked.endsWith('.md')) return null;
  return anchorsOf(await readFile(path.join(ROOT, linked), 'utf8')).has(anchor)
    ? null
    : `${linked} has no such heading`;
}

/**
 * Returns a line for each dead link of a built site, and for each file that a page would load from elsewhere.
 *
 * @param base the path of the site on its host, with slashes at both ends
 */
export async function siteProblems(folder: string, base: string): Promise<readonly string[]> {
  const files = (await readdir(folder, { recursive: true })).filter((file) => file.endsWith('.html'));
  const pages = new Map(await Promise.all(files.map(async (file) => [file, await pageOf(folder, file)] as const)));
  const problems: string[] = [];
  for (const [file, { links, resources }] of pages) {
    for (const url of resources) if (/^(https?:)?\/\//.test(url)) problems.push(`${file}: loads ${url}`);
    for (const link of [...links, ...resources]) {
      if (/^([a-z]+:|\/\/)/i.test(link)) continue;
      const { pathname, hash } = new URL(link, `http://site${base}${file}`);
      if (!pathname.startsWith(base)) {
        problems.push(`${file}: ${link}: outside of ${base}`);
        continue;
      }
      const name = decodeURI(pathname.slice(base.length));
      const linked = name === '' || name.endsWith('/') ? `${name}index.html` : name;
      const page = pages.get(linked);
      if (page === undefined && !existsSync(path.join(folder, linked)))
        problems.push(`${file}: ${link}: there is no ${linked}`);
      else if (hash !== '' && page?.anchors.has(decodeURIComponent(hash.slice(1))) === false) {
        problems.push(`${file}: ${link}: ${linked} has no such anchor`);
      }
    }
  }
  return problems;
}

interface HtmlPage {
  readonly anchors: ReadonlySet<string>;
  readonly links: readonly string[];
  readonly resources: readonly string[];
}

async function pageOf(folder: string, file: string): Promise<HtmlPage> {
  const html = await readFile(path.join(folder, file), 'utf8');
  const values = (form: RegExp) => [
    ...new Set([...html.matchAll(form)].map((match) => match[1]!.replaceAll('&amp;', '&'))),
  ];
  return {
    anchors: new Set(values(/\s(?:id|name)="([^"]+)"/g)),
    links: values(/<a\s[^>]*?href="([^"]+)"/g),
    resources: [
      ...values(/<(?:script|img|iframe|source)\s[^>]*?src="([^"]+)"/g),
      ...values(/<link\s[^>]*?href="([^"]+)"/g),
    ],
  };
}

async function main(): Promise<number> {
  const problems = await markdownProblems();
  for (const problem of problems) console.error(problem);
  if (problems.length === 0) console.log('All links of the Markdown files lead somewhere.');
  return problems.length === 0 ? 0 : 1;
}

if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(process.argv[1]).href)
  process.exitCode = await main();
