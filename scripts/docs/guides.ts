/** The pages that are written by hand: the README files of the repository, and what stands beside the root's. */
import { headingsOf } from './markdown.js';
import { linkTo, type Page, type SidebarItem } from './page.js';

export type Section = 'start' | 'guides' | 'protocols' | 'project';

const PROTOCOLS = ['accp', 'aacp', 'acp', 'arcp'];
/** Rooms of src/ whose README is for those who work on pegwire; all others have something for users. */
const INTERNAL = ['async', 'bench', 'cli', 'inspector', 'language-server', 'playground', 'storage', 'text'];
const OTHERS: Readonly<Record<string, string>> = {
  'README.md': 'start/introduction',
  'src/README.md': 'start/entry-points',
  'CHANGELOG.md': 'project/changelog',
  'VERSIONING.md': 'project/versioning',
  'CONTRIBUTING.md': 'project/contributing',
  'SECURITY.md': 'project/security',
};

export interface Guide extends Page {
  readonly title: string;
  readonly section: Section;
}

/** @param files the texts of all Markdown files of the repository by their paths */
export function guidePages(files: ReadonlyMap<string, string>): readonly Guide[] {
  return [...files].flatMap(([file, markdown]) => {
    const path = pathOf(file);
    if (path === null) return [];
    const title = file === 'README.md' ? 'Introduction' : (headingsOf(markdown)[0]?.text ?? path);
    return [{ path, title, markdown, section: sectionOf(path), sources: [{ file }] }];
  });
}

export function guideSidebar(guides: readonly Guide[], section: Section): readonly SidebarItem[] {
  const own = guides.filter((guide) => guide.section === section).toSorted((a, b) => rank(a) - rank(b));
  const paths = new Set(own.map(({ path }) => path));
  const isBelow = (path: string, parent: string) => path.startsWith(`${parent}/`);
  const itemsBelow = (parent: string): readonly SidebarItem[] =>
    own
      .filter(({ path }) => isBelow(path, parent) && ![...paths].some((p) => isBelow(p, parent) && isBelow(path, p)))
      .map(({ path, title }) => {
        const items = itemsBelow(path);
        return { text: title, link: linkTo(path), ...(items.length === 0 ? {} : { items, collapsed: true }) };
      });
  return itemsBelow(section);
}

/** Orders guides by task before those of rooms, and rooms behind all else. */
function rank({ path, sources = [] }: Guide): number {
  return path.startsWith('project/source/') ? 2 : sources.some(({ file }) => file.startsWith('src/')) ? 1 : 0;
}

/** The page of a file, or null if the site does not show it. */
function pathOf(file: string): string | null {
  const example = /^test\/examples\/(.+)\/README\.md$/.exec(file);
  if (example !== null) return `guides/${example[1]}`;
  const room = /^src\/((\w[\w-]*).*)\/README\.md$/.exec(file);
  if (room !== null) {
    if (PROTOCOLS.includes(room[2]!)) return `protocols/${room[1]}`;
    return INTERNAL.includes(room[2]!) ? `project/source/${room[1]}` : `guides/${room[1]}`;
  }
  if (/^(bench|test\/conformance)\//.test(file)) return `project/${file.replace(/^test\/|(\/README)?\.md$/g, '')}`;
  return OTHERS[file] ?? null;
}

function sectionOf(path: string): Section {
  return path.split('/')[0] as Section;
}
