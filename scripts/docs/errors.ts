/**
 * The pages of errors, from the files ERRORS.md of the rooms: a heading of the second level for each class, one of the third for each of
 * its codes. What several rooms state about one class, or one code, stands on one page.
 */
import { code, escaped, firstSentence, type Heading, headingsOf, inTable } from './markdown.js';
import { linkTo, type Part, type Source } from './page.js';

interface Passage {
  readonly file: string;
  /** The part of the library that the file is about, from its heading: `ACCP`. */
  readonly room: string;
  readonly heading: Heading;
  readonly body: string;
}

interface ErrorClass {
  readonly name: string;
  readonly path: string;
  readonly passages: Passage[];
  readonly codes: Map<string, Passage[]>;
}

/** @param files the texts of the files by their paths */
export function errorPages(files: ReadonlyMap<string, string>): Part {
  const classes = [...classesOf(files).values()].toSorted((a, b) => a.name.localeCompare(b.name));
  const pages = classes.flatMap((errorClass) => [
    { path: errorClass.path, markdown: classPage(errorClass), sources: errorClass.passages.map(sourceOf) },
    ...[...errorClass.codes].map(([name, passages]) => ({
      path: `${errorClass.path}/${name}`,
      markdown: codePage(errorClass, name, passages),
      sources: passages.map(sourceOf),
    })),
  ]);
  const sidebar = classes.map((errorClass) => ({
    text: errorClass.name,
    link: linkTo(errorClass.path),
    collapsed: true,
    items: [...errorClass.codes.keys()].map((name) => ({ text: name, link: linkTo(`${errorClass.path}/${name}`) })),
  }));
  return {
    pages: [{ path: 'errors', markdown: indexPage(classes) }, ...pages],
    sidebar: [{ text: 'All errors', link: linkTo('errors') }, ...sidebar],
  };
}

function classesOf(files: ReadonlyMap<string, string>): ReadonlyMap<string, ErrorClass> {
  const classes = new Map<string, ErrorClass>();
  for (const [file, text] of files) {
    const headings = headingsOf(text).filter(({ level }) => level <= 3);
    const room = headings.find(({ level }) => level === 1)?.text.replace(/^Errors of (?:the )?/, '') ?? file;
    let current: ErrorClass | undefined;
    for (const [index, heading] of headings.entries()) {
      const passage = { file, room, heading, body: text.slice(heading.end, headings[index + 1]?.start).trim() };
      if (heading.level === 2) {
        const { text: name } = heading;
        current = classes.get(name) ?? { name, path: `errors/${kebab(name)}`, passages: [], codes: new Map() };
        classes.set(name, current);
        current.passages.push(passage);
      } else if (heading.level === 3) {
        if (current === undefined) throw new Error(`${file}: ${heading.text} stands below no class`);
        current.codes.set(heading.text, [...(current.codes.get(heading.text) ?? []), passage]);
      }
    }
  }
  return classes;
}

function sourceOf({ file, heading }: Passage): Source {
  return { file, anchor: heading.anchor };
}

function indexPage(classes: readonly ErrorClass[]): string {
  const sections = classes.map((errorClass) => {
    const text = `## [${errorClass.name}](${linkTo(errorClass.path)})`;
    return `${text}\n\n${firstSentence(errorClass.passages[0]!.body)}\n\n${codeTable(errorClass)}`;
  });
  return ['# Errors', 'Every error of pegwire by its class and code.', ...sections].join('\n\n');
}

function classPage(errorClass: ErrorClass): string {
  const { name, passages } = errorClass;
  const parts = passages.flatMap(({ file, room, body }) => [
    ...(passages.length === 1 ? [] : [`## ${capitalized(room)}`]),
    body,
    codeTable(errorClass, file),
  ]);
  return [`[Errors](${linkTo('errors')}) / ${name} {.breadcrumbs}`, `# ${name}`, ...parts].join('\n\n');
}

function codePage({ name, path }: ErrorClass, errorCode: string, passages: readonly Passage[]): string {
  return [
    `[Errors](${linkTo('errors')}) / [${name}](${linkTo(path)}) / ${escaped(errorCode)} {.breadcrumbs}`,
    `# ${escaped(errorCode)} <small>${name}</small>`,
    ...passages.flatMap(({ room, body }) => (passages.length === 1 ? [body] : [`## ${capitalized(room)}`, body])),
  ].join('\n\n');
}

/** @param file only the codes of this file, if given */
function codeTable({ path, codes }: ErrorClass, file?: string): string {
  const rows = [...codes].flatMap(([name, passages]) => {
    const passage = file === undefined ? passages[0] : passages.find((candidate) => candidate.file === file);
    if (passage === undefined) return [];
    return [`| [${code(name)}](${linkTo(`${path}/${name}`)}) | ${inTable(firstSentence(passage.body))} |`];
  });
  return rows.length === 0 ? '' : ['| code | meaning |', '| --- | --- |', ...rows].join('\n');
}

function capitalized(phrase: string): string {
  return phrase.charAt(0).toUpperCase() + phrase.slice(1);
}

/** `LinkError` to `link-error`, `Validator codes` to `validator-codes`. */
function kebab(name: string): string {
  return name
    .replace(/([a-z0-9])([A-Z])/g, '$1-$2')
    .replace(/[^A-Za-z0-9]+/g, '-')
    .toLowerCase();
}
