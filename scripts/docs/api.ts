/** The API reference: a page for each entry point of the package, by TypeDoc. */
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { Application, type DeclarationReflection, type DocumentationEntryPoint, ReflectionKind } from 'typedoc';
import type { PluginOptions } from 'typedoc-plugin-markdown';
import { anchorsOf, code, firstSentence, inTable, replaceLinks, slug } from './markdown.js';
import { linkTo, type Page, type Part, type SidebarItem } from './page.js';

const OPTIONS: Parameters<typeof Application.bootstrapWithPlugins>[0] & Partial<PluginOptions> = {
  plugin: ['typedoc-plugin-markdown'],
  router: 'module',
  readme: 'none',
  logLevel: 'Warn',
  // `npm run types` checks them.
  skipErrorChecking: true,
  validation: { notExported: false, notDocumented: false, invalidLink: true },
  excludePrivate: true,
  excludeInternal: true,
  excludeExternals: true,
  groupOrder: ['Functions', 'Classes', 'Interfaces', 'Type Aliases', 'Variables', 'References', '*'],
  hideBreadcrumbs: true,
  hidePageHeader: true,
  useCodeBlocks: true,
  parametersFormat: 'table',
  interfacePropertiesFormat: 'table',
  classPropertiesFormat: 'table',
  typeAliasPropertiesFormat: 'table',
  typeDeclarationFormat: 'table',
  tableColumnSettings: { hideModifiers: true, hideInherited: true, hideOverrides: true, hideSources: true },
};

interface Manifest {
  readonly exports: Readonly<Record<string, string | { readonly types: string }>>;
}

/** Returns the entry points of the package with their sources: `pegwire/accp/session` is `src/accp/codec/index.ts`. */
export function entryPoints({ exports }: Manifest): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  for (const [name, target] of Object.entries(exports)) {
    if (typeof target === 'string') continue;
    const declarations = target.types.replace('./dist/', '');
    const isWritten = !name.startsWith('./generated/');
    found.set(`pegwire${name.slice(1)}`, isWritten ? declarations.replace(/\.d\.ts$/, '.ts') : declarations);
  }
  return found;
}

export function apiPath(entryPoint: string): string {
  return entryPoint === 'pegwire' ? 'api/pegwire' : entryPoint.replace(/^pegwire/, 'api');
}

/**
 * Writes the reference with TypeDoc, to `folder`, and returns its pages.
 *
 * @param errors the links of the error pages by the names of their classes
 */
export async function apiPages(
  root: string,
  folder: string,
  repository: string,
  errors: ReadonlyMap<string, string>,
): Promise<Part> {
  const manifest = JSON.parse(await readFile(path.join(root, 'package.json'), 'utf8')) as Manifest;
  const entries = entryPoints(manifest);
  const app = await Application.bootstrapWithPlugins({
    ...OPTIONS,
    entryPoints: [...new Set(entries.values())].map((source) => path.join(root, source)),
    tsconfig: path.join(root, 'tsconfig.json'),
    basePath: root,
    outputs: [{ name: 'markdown', path: folder }],
  });
  const modules = new Map<string, DocumentationEntryPoint>();
  const programs = new Map((app.getEntryPoints() ?? []).map((entry) => [entry.sourceFile.fileName, entry]));
  for (const [name, source] of entries) {
    const entry = programs.get(path.join(root, source));
    if (entry === undefined) throw new Error(`TypeDoc does not read ${source}`);
    modules.set(name, { ...entry, displayName: name });
  }
  // An entry point for browsers is a part of another one, which documents all.
  const isPart = (name: string) => name.endsWith('/portable');
  // What several of them export is documented with the first one; the root only re-exports.
  const order = [...modules.keys()].filter((name) => !isPart(name)).toSorted(byDepth);
  const project = app.converter.convert(order.map((name) => modules.get(name)!));
  for (const module of project.children ?? []) simplify(module, repository);
  await app.generateOutputs(project);
  if (app.logger.hasErrors()) throw new Error('TypeDoc reports errors');

  const pages = await Promise.all(
    [...modules].map(async ([name, entry]): Promise<Page> => {
      if (isPart(name)) return { path: apiPath(name), markdown: partPage(name, entry) };
      const reference = mended(await readFile(path.join(folder, `${name}.md`), 'utf8'), name);
      const markdown = reference
        .replace('\n', `\n\n${introduction(entry)}\n`)
        .replace(/^### (\w+)\n/gm, (heading, declared: string) => {
          const link = errors.get(declared);
          return link === undefined ? heading : `${heading}\n[All codes of ${declared}](${link})\n`;
        });
      return { path: apiPath(name), markdown };
    }),
  );
  const names = [...entries.keys()];
  const rows = [...modules].map(([name, entry]) => {
    return `| [${code(name)}](${linkTo(apiPath(name))}) | ${inTable(firstSentence(introduction(entry)))} |`;
  });
  const index = [
    '# API',
    'An entry point is a path that you import. [The list of entry points](repo:src/README.md) also states where each one runs.',
    ['| entry point | description |', '| --- | --- |', ...rows].join('\n'),
  ].join('\n\n');
  return {
    pages: [{ path: 'api', markdown: index }, ...pages],
    sidebar: [{ text: 'All entry points', link: linkTo('api') }, ...sidebarOf(names)],
  };
}

/** Returns the comment at the head of a module, without its remark on the entry point. */
function introduction({ sourceFile }: DocumentationEntryPoint): string {
  const comment = /^\/\*\*(.*?)\*\/\n(?=\n|import|export (?:type )?[{*])/s.exec(sourceFile.text)?.[1] ?? '';
  return comment
    .replace(/^ *\* ?/gm, '')
    .replace(/ ?Public as `[^`]+`\./, '')
    .trim();
}

/** Orders entry points from short paths to long ones, the root last. */
function byDepth(a: string, b: string): number {
  const depth = (name: string) => (name === 'pegwire' ? Number.POSITIVE_INFINITY : name.split('/').length);
  return depth(a) === depth(b) ? 0 : depth(a) - depth(b);
}

/** Links declarations to their sources, and removes what repeats itself: sources of members, inherited members of classes. */
function simplify(module: DeclarationReflection, repository: string): void {
  for (const declaration of module.children ?? []) {
    for (const source of [declaration, ...declaration.getAllSignatures()].flatMap(({ sources = [] }) => sources)) {
      source.url = `${repository}/blob/main/${source.fileName}#L${source.line}`;
    }
    for (const member of [...(declaration.children ?? [])]) {
      const isInherited = (member.inheritedFrom ?? member.getSignature?.inheritedFrom) !== undefined;
      if (isInherited && declaration.kindOf(ReflectionKind.Class)) {
        module.project.removeReflection(member);
        continue;
      }
      for (const part of [member, ...member.getAllSignatures()]) {
        delete part.sources;
        delete part.overwrites;
      }
    }
    const kept = new Set<unknown>(declaration.children);
    for (const group of declaration.groups ?? []) group.children = group.children.filter((child) => kept.has(child));
    const filled = declaration.groups?.filter(({ children }) => children.length > 0);
    if (filled !== undefined) declaration.groups = filled;
  }
}

/** The page of an entry point that is a part of another: its exports, by links. */
function partPage(name: string, { program, sourceFile }: DocumentationEntryPoint): string {
  const whole = name.slice(0, name.lastIndexOf('/'));
  const checker = program.getTypeChecker();
  const module = checker.getSymbolAtLocation(sourceFile);
  const exports = module === undefined ? [] : checker.getExportsOfModule(module).map((symbol) => symbol.name);
  const items = exports.toSorted().map((symbol) => `- [${code(symbol)}](${linkTo(apiPath(whole))}#${slug(symbol)})`);
  return `# ${name}\n\nThe part of [${code(whole)}](${linkTo(apiPath(whole))}) that needs nothing of Node:\n\n${items.join('\n')}`;
}

/** Leads links between the files of TypeDoc to the pages, lists what a module re-exports, and joins the errors of a function. */
function mended(markdown: string, name: string): string {
  const page = markdown
    .replace(/### (.*)\n\nRe-exports (.*)\n(?:\n\*\*\*\n\n)?/g, (_all, title: string, link: string) => {
      return `- <a id="${slug(title.replaceAll('\\', ''))}"></a>${link}\n`;
    })
    .replace(/^Defined in: .*$/gm, '$& {.source}')
    .replace(/\| (?:-|`undefined`) (?=\|)/g, '|  ')
    .replace(/(?<=\n#+ Throws\n\n(?:(?!\n#)[\s\S])*)\n#+ Throws\n/g, '');
  const anchors = anchorsOf(page);
  return replaceLinks(page, (target) => {
    // TypeDoc takes a type `RuntimeCancel` and a method `Runtime.cancel` for two headings of one name.
    if (target.startsWith('#')) return anchors.has(target.slice(1)) ? target : target.replace(/-\d+$/, '');
    const [file, anchor] = target.split('#');
    if (!file?.endsWith('.md') || /^[a-z]+:/.test(file)) return target;
    const module = path.posix.join(path.posix.dirname(name), file.slice(0, -'.md'.length));
    return `${linkTo(apiPath(module))}${anchor === undefined ? '' : `#${anchor}`}`;
  });
}

/** Groups `pegwire/accp/http` below `pegwire/accp`. */
function sidebarOf(names: readonly string[]): readonly SidebarItem[] {
  const groups = new Map<string, SidebarItem[]>();
  for (const name of names) {
    const head = name.split('/').slice(0, 2).join('/');
    groups.set(head, [...(groups.get(head) ?? []), { text: name, link: linkTo(apiPath(name)) }]);
  }
  return [...groups].map(([text, items]) => {
    if (items.length === 1) return items[0]!;
    const head = items[0]!.text === text ? items[0] : undefined;
    return { text, ...head, items: head === undefined ? items : items.slice(1), collapsed: true };
  });
}
