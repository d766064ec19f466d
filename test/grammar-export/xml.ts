/** A strict XML parser: the part of XML 1.0 that our writers use, without comments and the like. */

export interface Element {
  readonly name: string;
  readonly attributes: Readonly<Record<string, string>>;
  readonly children: readonly (Element | string)[];
}

const ENTITIES: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" };
/** XML 1.0, production 2. */
const FORBIDDEN = /[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/u;

/** @throws SyntaxError if the text is not well-formed, or an id is repeated */
export function parseXml(text: string): Element {
  if (FORBIDDEN.test(text)) throw new SyntaxError('A character that XML forbids');
  const ids = new Set<string>();
  const root: { children: (Element | string)[] } = { children: [] };
  const open: { name: string; children: (Element | string)[] }[] = [{ name: '', ...root }];
  const token = /<(\/?)([A-Za-z][\w.-]*)((?:\s+[A-Za-z][\w:.-]*="[^"<]*")*)\s*(\/?)>|[^<]+/y;
  while (token.lastIndex < text.length) {
    const at = token.lastIndex;
    const match = token.exec(text);
    if (match === null) throw new SyntaxError(`No XML at ${at}: ${text.slice(at, at + 40)}`);
    const [whole, end, name, attributes, empty] = match;
    if (name === undefined) {
      if (whole.includes(']]>')) throw new SyntaxError('An end of character data in text');
      open.at(-1)!.children.push(unescaped(whole));
    } else if (end === '/') {
      const last = open.pop()!;
      if (last.name !== name || open.length === 0) throw new SyntaxError(`</${name}> ends <${last.name}>`);
    } else {
      const element = { name, attributes: attributesOf(attributes!, ids), children: [] };
      open.at(-1)!.children.push(element);
      if (empty !== '/') open.push(element);
    }
  }
  const elements = open[0]!.children.filter((child): child is Element => typeof child !== 'string');
  if (open.length !== 1 || elements.length !== 1) throw new SyntaxError('Not one element, closed');
  return elements[0]!;
}

function attributesOf(source: string, ids: Set<string>): Readonly<Record<string, string>> {
  const attributes: Record<string, string> = Object.create(null);
  for (const [, name, value] of source.matchAll(/\s([^=\s]+)="([^"]*)"/g)) {
    if (name! in attributes) throw new SyntaxError(`Two attributes ${name}`);
    attributes[name!] = unescaped(value!);
  }
  const { id } = attributes as { readonly id?: string };
  if (id !== undefined && ids.has(id)) throw new SyntaxError(`Two elements with the id ${id}`);
  if (id !== undefined) ids.add(id);
  return attributes;
}

function unescaped(text: string): string {
  return text.replace(/&([^;]*;)?/g, (whole, body: string | undefined) => {
    const number = /^#([0-9]+);$/.exec(body ?? '')?.[1];
    const character = number === undefined ? ENTITIES[(body ?? '').slice(0, -1)] : String.fromCodePoint(Number(number));
    if (character === undefined) throw new SyntaxError(`No entity: ${whole}`);
    return character;
  });
}

/** All elements with a name, from the top down. */
export function elementsOf(element: Element, name: string): readonly Element[] {
  const inner = element.children.flatMap((child) => (typeof child === 'string' ? [] : elementsOf(child, name)));
  return element.name === name ? [element, ...inner] : inner;
}

export function textOf({ children }: Element): string {
  return children.map((child) => (typeof child === 'string' ? child : textOf(child))).join('');
}
