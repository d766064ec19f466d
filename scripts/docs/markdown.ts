/** The parts of Markdown that the site and the link check read: headings, anchors and links. */

export interface Heading {
  readonly level: number;
  /** The heading as plain text. */
  readonly text: string;
  /** The anchor that GitHub and the site give it. */
  readonly anchor: string;
  /** The offset of its line, and that of the line below it. */
  readonly start: number;
  readonly end: number;
}

export interface Link {
  readonly target: string;
  /** The offset of the target. */
  readonly start: number;
  readonly line: number;
}

/** Returns the anchor of a heading, as GitHub makes it. The site uses the same, so that one link works in both. */
export function slug(heading: string): string {
  return heading
    .toLowerCase()
    .replace(/[^\p{L}\p{M}\p{N}\p{Pc} -]/gu, '')
    .replaceAll(' ', '-');
}

export function headingsOf(markdown: string): readonly Heading[] {
  const counts = new Map<string, number>();
  return [...withoutCode(markdown).matchAll(/^ {0,3}(#{1,6}) .*$/gm)].map((match) => {
    const end = match.index + match[0].length;
    const text = plain(markdown.slice(match.index, end));
    const base = slug(text);
    const count = counts.get(base) ?? 0;
    counts.set(base, count + 1);
    return {
      level: match[1]!.length,
      text,
      anchor: count === 0 ? base : `${base}-${count}`,
      start: match.index,
      end: end + 1,
    };
  });
}

/** Returns all anchors of a page: those of its headings and those written as HTML. */
export function anchorsOf(markdown: string): ReadonlySet<string> {
  const written = [...withoutCode(markdown).matchAll(/\b(?:id|name)="([^"]+)"/g)].map((match) => match[1]!);
  return new Set([...headingsOf(markdown).map(({ anchor }) => anchor), ...written]);
}

/** Returns the links and images of a page, those in code left out. */
export function linksOf(markdown: string): readonly Link[] {
  const text = withoutCode(markdown);
  const forms = [
    /(?<=(?<!\\)\]\()[^()\s]+(?=(?:\s+"[^"]*")?\))/g, // [text](target "title")
    /(?<=^ {0,3}\[[^\]]+\]:[ \t]+)\S+/gm, // [label]: target
    /(?<=\b(?:href|src)=")[^"]+/g,
  ];
  return forms
    .flatMap((form) => [...text.matchAll(form)])
    .map(({ 0: target, index }) => ({ target, start: index, line: text.slice(0, index).split('\n').length }))
    .toSorted((a, b) => a.start - b.start);
}

/** Replaces the targets of links. */
export function replaceLinks(markdown: string, replacement: (target: string) => string): string {
  let replaced = '';
  let end = 0;
  for (const { target, start } of linksOf(markdown)) {
    replaced += markdown.slice(end, start) + replacement(target);
    end = start + target.length;
  }
  return replaced + markdown.slice(end);
}

/** Escapes a text that is not meant as Markdown; also fit for a table. */
export function escaped(text: string): string {
  return text.replace(/[\\`*_{}[\]<>|~]/g, '\\$&').replaceAll('\n', ' ');
}

/** Marks a text as code; also fit for a table. */
export function code(text: string): string {
  const fence = text.includes('`') ? '``' : '`';
  return `${fence}${text.replaceAll('|', '\\|')}${fence}`;
}

/** Escapes the bars of Markdown that stands in a table. */
export function inTable(markdown: string): string {
  return markdown.replace(/(?<!\\)\|/g, '\\|');
}

export function firstSentence(markdown: string): string {
  const paragraph = markdown.split(/\n\s*\n/)[0]!.replaceAll('\n', ' ');
  return /^.*?[.!?](?= [A-Z`]|$)/.exec(paragraph)?.[0] ?? paragraph;
}

/** Blanks code and comments; every other character keeps its offset. */
function withoutCode(markdown: string): string {
  const blank = (text: string) => text.replace(/[^\n]/g, ' ');
  return markdown
    .replace(/^( *)(`{3,}|~{3,})[^\n]*\n[\s\S]*?(?:^ *\2[`~]*[ \t]*$|(?![\s\S]))/gm, blank)
    .replace(/<!--[\s\S]*?-->/g, blank)
    .replace(/(?<![`\\])(`+)(?!`)(?:(?!\n\n)[\s\S])*?[^`]\1(?!`)/g, blank);
}

/** Takes the marks from the line of a heading: its own, and those of code, escapes, links, HTML and emphasis. */
function plain(line: string): string {
  const text = line.replace(/^ {0,3}#+\s+|\s+#*\s*$/g, '').replace(/\s*\{#[^}]+\}$/, '');
  const marks = /(`+)(?<code>.+?)\1|\\(?<sign>.)|!?\[(?<link>[^\]]*)\]\([^)]*\)|<[^>]+>|\*+/g;
  return text.replace(marks, (...args) => {
    const { code, sign, link } = args.at(-1) as Readonly<Record<string, string | undefined>>;
    return code ?? sign ?? (link === undefined ? '' : plain(link));
  });
}
