/** Assembles the pages of the site in `.docs/`, where VitePress reads them. */
import { existsSync, statSync } from 'node:fs';
import { cp, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { tryParseFrame } from '../../src/accp/index.js';
import { addTokenizers, buildPlayground } from '../playground.js';
import { apiPages } from './api.js';
import { commandPages } from './commands.js';
import { errorPages } from './errors.js';
import { guidePages, guideSidebar } from './guides.js';
import { replaceLinks } from './markdown.js';
import { linkTo, type Page, type SidebarItem } from './page.js';
import { markdownFiles, ROOT, repositoryAddress } from './repository.js';

/** The folder of the assembled pages; not part of the repository. */
export const PAGES = path.join(ROOT, '.docs');

/** The parts of the site with styles of their own. */
const PAGE_CLASSES: ReadonlySet<string> = new Set(['api', 'cli', 'errors']);

/** Writes all pages and the sidebar, and returns the pages. */
export async function assemble(): Promise<readonly Page[]> {
  const repository = await repositoryAddress();
  await rm(PAGES, { recursive: true, force: true });
  const files = new Map<string, string>();
  for (const file of markdownFiles()) {
    const text = await readFile(path.join(ROOT, file), 'utf8');
    files.set(
      file,
      replaceLinks(text, (target) => fromRoot(target, file)),
    );
  }
  const guides = guidePages(files);
  const errors = errorPages(new Map([...files].filter(([file]) => /^src\/.*ERRORS\.md$/.test(file))));
  const commands = await commandPages();
  const errorLinks = new Map(errors.sidebar.map(({ text, link = '' }) => [text, link]));
  const api = await apiPages(ROOT, path.join(PAGES, 'typedoc'), repository, errorLinks);
  await rm(path.join(PAGES, 'typedoc'), { recursive: true });

  const home = await readFile(path.join(ROOT, 'scripts/docs/index.md'), 'utf8');
  const pages = [
    { path: '', markdown: home.replace('<!-- error -->', errorPicture()) },
    ...guides,
    ...commands.pages,
    ...errors.pages,
    ...api.pages,
  ];
  const sidebar: readonly SidebarItem[] = [
    { text: 'Start', items: [{ text: 'What it is', link: '/' }, ...guideSidebar(guides, 'start')] },
    { text: 'Guides', items: guideSidebar(guides, 'guides') },
    { text: 'Protocols', items: guideSidebar(guides, 'protocols') },
    { text: 'Command line', items: commands.sidebar, collapsed: true },
    { text: 'Errors', items: errors.sidebar, collapsed: true },
    { text: 'API', items: api.sidebar, collapsed: true },
    { text: 'Project', items: guideSidebar(guides, 'project'), collapsed: true },
  ];

  await cp(path.join(ROOT, 'scripts/docs/public'), path.join(PAGES, 'public'), { recursive: true });
  await cp(path.join(ROOT, 'llms.txt'), path.join(PAGES, 'public/llms.txt'));
  await buildPlayground(path.join(PAGES, 'public/playground'));
  addTokenizers(path.join(PAGES, 'public/playground'));
  await writeFile(path.join(PAGES, 'sidebar.json'), JSON.stringify(sidebar));
  const addresses = addressesOf(pages);
  const images = new Set<string>();
  for (const page of pages) {
    const file = path.join(PAGES, page.path, 'index.md');
    const markdown = replaceLinks(page.markdown, (target) => {
      const image = /^repo:(.*\.(?:svg|png))$/.exec(target)?.[1];
      if (image !== undefined) images.add(image);
      return image === undefined ? resolved(target, addresses, repository) : `/${image}`;
    });
    await mkdir(path.dirname(file), { recursive: true });
    await writeFile(file, `${frontmatter(page)}${markdown}\n`);
  }
  for (const image of images) await cp(path.join(ROOT, image), path.join(PAGES, 'public', image));
  return pages;
}

/** The link of a file as one from the root of the repository: `repo:src/accp/README.md#sessions`. */
function fromRoot(target: string, file: string): string {
  // The sections of errors become pages.
  if (target.startsWith('#') && file.endsWith('ERRORS.md')) return `repo:${file}${target}`;
  if (/^([a-z]+:|#|\/)/i.test(target)) return target;
  return `repo:${path.posix.join(path.posix.dirname(file), target)}`;
}

/** Maps the files of the repository, and the parts of those that have several pages, to their addresses on the site. */
function addressesOf(pages: readonly Page[]): ReadonlyMap<string, string> {
  const addresses = new Map<string, string>();
  for (const { path: page, sources = [] } of pages) {
    for (const { file, anchor } of sources)
      addresses.set(anchor === undefined ? file : `${file}#${anchor}`, linkTo(page));
  }
  return addresses;
}

function resolved(target: string, addresses: ReadonlyMap<string, string>, repository: string): string {
  if (!target.startsWith('repo:')) return target;
  const link = target.slice('repo:'.length).replace(/\/$/, '');
  const [file = '', anchor] = link.split('#');
  const part = addresses.get(link);
  if (part !== undefined) return part;
  if (file.endsWith('/ERRORS.md')) return linkTo('errors');
  const page = addresses.get(file) ?? addresses.get(`${file}/README.md`);
  if (page !== undefined) return anchor === undefined ? page : `${page}#${anchor}`;
  const isFolder = existsSync(path.join(ROOT, file)) && statSync(path.join(ROOT, file)).isDirectory();
  return `${repository}/${isFolder ? 'tree' : 'blob'}/main/${link}`;
}

/** Pages of one file can be edited; the others cannot. */
function frontmatter({ path: page, markdown, sources = [] }: Page): string {
  if (markdown.startsWith('---\n')) return '';
  const kind = page.split('/')[0]!;
  const edit = sources.length === 1 ? `source: ${sources[0]!.file}` : 'editLink: false';
  return `---\n${edit}\n${PAGE_CLASSES.has(kind) ? `pageClass: ${kind}\n` : ''}---\n\n`;
}

/** The error of the landing page, as the library reports it. */
function errorPicture(): string {
  const result = tryParseFrame('@bot>req:plan{nx:@strategy:plan}');
  if (result.ok) throw new Error('The frame of the landing page is valid');
  const html = result.error
    .format({ name: 'stdin' })
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('{', '&#123;')
    .replace(/^(error\[.*?\])(.*)$/m, '<b class="code">$1</b><b>$2</b>')
    .replace(/^( *\| *)(\^+)$/m, '$1<b class="code">$2</b>')
    .replace(/^(help:)/m, '<b class="help">$1</b>')
    .replace(/^( *\d* \|| *--&gt;.*)/gm, '<i>$1</i>');
  return `<pre class="caret-error">${html}</pre>`;
}
