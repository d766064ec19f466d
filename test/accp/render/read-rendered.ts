/** Reads rendered text back, by its own rules: what can be read back can be mistaken for nothing else. */

/** Maps are lists of members, so that no key is special. */
export type ReadValue = string | number | boolean | null | { readonly ref: string } | readonly ReadValue[] | ReadMap;

export interface ReadMap {
  readonly members: readonly (readonly [key: string, value: ReadValue])[];
}

export interface ReadText {
  readonly header: string;
  readonly payload: ReadMap;
}

interface Node {
  readonly children: Map<string, Node>;
  value?: ReadValue;
}

/** Reads text without its fences. */
export function readRendered(text: string): ReadText {
  const [header, ...lines] = text.split('\n');
  const root: Node = { children: new Map() };
  for (let at = 0; at < lines.length; ) {
    const line = lines[at++]!;
    if (line.startsWith(' ')) throw new Error(`line ${at} belongs to no parameter`);
    const more: string[] = [];
    while (lines[at]?.startsWith(' ')) more.push(lines[at++]!.slice(1));
    readParam(line, more, root);
  }
  return { header: header!, payload: mapOf(root) };
}

function readParam(line: string, more: readonly string[], root: Node): void {
  const reader = new Reader(line);
  let node = root;
  do {
    const name = reader.name();
    const known = node.children.get(name) ?? { children: new Map() };
    node.children.set(name, known);
    node = known;
  } while (reader.take('.'));
  if (node.value !== undefined || node.children.size > 0) throw new Error(`${line} is there twice`);
  if (reader.take('(')) {
    const columns: string[] = [];
    do columns.push(reader.name());
    while (reader.take(','));
    reader.expect('):');
    reader.end();
    node.value = more.map((row) => ({ members: readRow(row, columns) }));
  } else {
    reader.expect(':');
    if (more.length > 0) {
      reader.end();
      node.value = more.join('\n');
    } else {
      node.value = reader.rest();
    }
  }
}

function readRow(row: string, columns: readonly string[]): [string, ReadValue][] {
  const reader = new Reader(row);
  const members = columns.map((column, index): [string, ReadValue] => {
    if (index > 0) reader.expect(',');
    return [column, reader.value()];
  });
  reader.end();
  return members;
}

function mapOf(node: Node): ReadMap {
  return {
    members: [...node.children].map(([key, child]) => [key, child.value === undefined ? mapOf(child) : child.value]),
  };
}

class Reader {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  take(piece: string): boolean {
    if (!this.#text.startsWith(piece, this.#at)) return false;
    this.#at += piece.length;
    return true;
  }

  expect(piece: string): void {
    if (!this.take(piece)) throw new Error(`${piece} is not at ${this.#at} of ${this.#text}`);
  }

  end(): void {
    if (this.#at !== this.#text.length) throw new Error(`there is more at ${this.#at} of ${this.#text}`);
  }

  name(): string {
    return this.#match(/[A-Za-z0-9_-]+/y) ?? this.#quoted();
  }

  /** All that is left: only at the end of a line may a string hold separators. */
  rest(): ReadValue {
    if (/["[{]/.test(this.#text[this.#at] ?? '')) {
      const value = this.value();
      this.end();
      return value;
    }
    return scalar(this.#text.slice(this.#at));
  }

  value(): ReadValue {
    if (this.take('[')) {
      const items: ReadValue[] = [];
      if (this.take(']')) return items;
      do items.push(this.value());
      while (this.take(','));
      this.expect(']');
      return items;
    }
    if (this.take('{')) {
      const members: [string, ReadValue][] = [];
      if (this.take('}')) return { members };
      do {
        const key = this.name();
        this.expect(':');
        members.push([key, this.value()]);
      } while (this.take(','));
      this.expect('}');
      return { members };
    }
    const plain = this.#match(/[^,[\]{}"]+/y);
    return plain === undefined ? this.#quoted() : scalar(plain);
  }

  #quoted(): string {
    const text = this.#match(/"(?:[^"\\]|\\.)*"/y);
    if (text === undefined) throw new Error(`no value at ${this.#at} of ${this.#text}`);
    return JSON.parse(text) as string;
  }

  #match(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.#at;
    const found = pattern.exec(this.#text)?.[0];
    this.#at += found?.length ?? 0;
    return found;
  }
}

function scalar(text: string): ReadValue {
  if (text === '') throw new Error('a value is missing');
  if (text === 'true' || text === 'false') return text === 'true';
  if (text === 'null') return null;
  if (/^-?\d+(?:\.\d+)?$/.test(text)) return Number(text);
  return text.startsWith('$') ? { ref: text.slice(1) } : text;
}
