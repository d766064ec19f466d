/** Reads rendered text back, by its own rules: what can be read back can be mistaken for nothing else. */

/** Maps are lists of members, so that no key is special. */
export type ReadValue = string | number | boolean | null | { readonly ref: string } | readonly ReadValue[] | ReadMap;

export interface ReadMap {
  readonly members: readonly (readonly [key: string, value: ReadValue])[];
}

export interface ReadMessage {
  /** Agent, intent, operation and, if there is one, schema. */
  readonly header: readonly string[];
  readonly payload: ReadMap;
}

const NAME = String.raw`(?:[\p{L}\p{N}_$/-]+|"(?:[^"\\]|\\.)*")`;
const PATH = String.raw`${NAME}(?:\.${NAME})*`;
const MEMBER_AHEAD = new RegExp(` ${PATH}=`, 'uy');
const KEY_AHEAD = new RegExp(`${PATH}[=:(]`, 'uy');
const MEMBERS = new RegExp(`^${PATH}=`, 'u');

/** Reads messages, from text without its fences. */
export function readMessages(text: string): ReadMessage[] {
  const lines = text.split('\n');
  const messages: ReadMessage[] = [];
  for (let at = 0; at < lines.length; ) {
    const reader = new Reader(lines[at++]!);
    const own: string[] = [];
    while (at < lines.length && !lines[at]!.startsWith('@')) own.push(lines[at++]!);
    reader.expect('@');
    const header = [reader.name()];
    while (!reader.isAt(/\(|$/y) && !reader.isAt(MEMBER_AHEAD)) {
      reader.expect(' ');
      header.push(reader.name());
    }
    if (header.length < 3 || header.length > 4) throw new Error(`${header.length} parts of a header`);
    if (reader.take('(')) {
      for (const payload of readTable(reader, own)) messages.push({ header, payload: payload as ReadMap });
      continue;
    }
    const root = new Tree();
    while (reader.take(' ')) root.set(reader.path(), reader.assigned());
    reader.end();
    readLines(own, root);
    messages.push({ header, payload: root.map() });
  }
  return messages;
}

/** Reads one value, from text without its fences. */
export function readJson(text: string): ReadValue {
  const lines = text.split('\n');
  if (lines.every((line) => line.startsWith(' '))) return blockOf(lines);
  const reader = new Reader(lines[0]!);
  const isTable = reader.isAt(/\(/y) && lines[0]!.endsWith('):');
  if (isTable) {
    reader.expect('(');
    return readTable(reader, lines.slice(1));
  }
  if (!reader.isAt(KEY_AHEAD)) {
    const value = reader.value('line');
    reader.end();
    if (lines.length > 1) throw new Error('there is more than one value');
    return value;
  }
  const root = new Tree();
  if (MEMBERS.test(lines[0]!)) {
    do root.set(reader.path(), reader.assigned());
    while (reader.take(' '));
    reader.end();
    lines.shift();
  }
  readLines(lines, root);
  return root.map();
}

/** Reads texts and tables, each with its key. */
function readLines(lines: readonly string[], root: Tree): void {
  for (let at = 0; at < lines.length; ) {
    const line = lines[at++]!;
    if (/^[ \d]/.test(line)) throw new Error(`${line} belongs to no key`);
    const reader = new Reader(line);
    const path = reader.path();
    const more: string[] = [];
    while (at < lines.length && /^[ \d]/.test(lines[at]!)) more.push(lines[at++]!);
    if (reader.take('(')) {
      root.set(path, readTable(reader, more));
    } else if (reader.take(': ')) {
      if (more.length > 0) throw new Error(`${line} has lines`);
      root.set(path, reader.value('line'));
      reader.end();
    } else {
      reader.expect(':');
      reader.end();
      root.set(path, blockOf(more));
    }
  }
}

function blockOf(lines: readonly string[]): string {
  for (const line of lines) if (!line.startsWith(' ')) throw new Error(`${line} is no line of a text`);
  return lines.map((line) => line.slice(1)).join('\n');
}

interface Column {
  readonly path: readonly string[];
  readonly constant?: ReadValue;
  readonly inner?: readonly Column[];
}

/** Reads a heading after its opening bracket, and the rows. */
function readTable(heading: Reader, lines: readonly string[]): ReadMap[] {
  const { columns, separator } = heading.columns();
  heading.expect(':');
  heading.end();
  return lines.map((line) => {
    if (!/^[ \d]/.test(line)) throw new Error(`${line} is no row`);
    const reader = new Reader(line.replace(/^ /, ''));
    const row = reader.row(columns, separator, true);
    reader.end();
    return row;
  });
}

/** Members by path; none may be there twice. */
class Tree {
  readonly #children = new Map<string, Tree | { readonly value: ReadValue }>();

  set([key, ...rest]: readonly string[], value: ReadValue): void {
    const child = this.#children.get(key!);
    if (rest.length === 0) {
      if (child !== undefined) throw new Error(`${key} is there twice`);
      this.#children.set(key!, { value });
      return;
    }
    const tree = child ?? new Tree();
    if (!(tree instanceof Tree)) throw new Error(`${key} is there twice`);
    this.#children.set(key!, tree);
    tree.set(rest, value);
  }

  map(): ReadMap {
    return {
      members: [...this.#children].map(([key, child]) => [key, child instanceof Tree ? child.map() : child.value]),
    };
  }
}

type Place = 'line' | 'item' | 'word' | 'heading';

/** Each place allows fewer characters. */
const PLAIN: Readonly<Record<Place, RegExp>> = {
  line: /.+/y,
  item: /[^,[\]{}"]+/y,
  word: /[^ ,[\]{}"]+/y,
  heading: /[$A-Za-z0-9_.+-]+/y,
};

const ABSENT = Symbol('absent');

class Reader {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  isAt(pattern: RegExp): boolean {
    pattern.lastIndex = this.#at;
    return pattern.test(this.#text);
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
    return this.#match(/[\p{L}\p{N}_$/-]+/uy) ?? this.#quoted();
  }

  path(): string[] {
    const path = [this.name()];
    while (this.take('.')) path.push(this.name());
    return path;
  }

  assigned(): ReadValue {
    this.expect('=');
    return this.value('word');
  }

  /** The columns up to the closing bracket, and what separates them. */
  columns(): { columns: Column[]; separator: ',' | ' ' } {
    const columns: Column[] = [];
    let separator: ',' | ' ' = ' ';
    for (;;) {
      const path = this.path();
      if (this.take('=')) columns.push({ path, constant: this.value('heading') });
      else if (this.take('(')) columns.push({ path, inner: this.columns().columns });
      else columns.push({ path });
      if (this.take(')')) return { columns, separator };
      if (columns.length === 1) separator = this.isAt(/,/y) ? ',' : ' ';
      this.expect(separator);
    }
  }

  row(columns: readonly Column[], separator: ',' | ' ', toEnd = false): ReadMap {
    const root = new Tree();
    let isFirst = true;
    const last = columns.findLast(({ constant }) => constant === undefined);
    for (const column of columns) {
      if (column.constant !== undefined) {
        root.set(column.path, column.constant);
        continue;
      }
      if (!isFirst) this.expect(separator);
      isFirst = false;
      const place = separator === ',' ? 'item' : toEnd && column === last ? 'line' : 'word';
      const cell = this.#cell(column, place);
      if (cell !== ABSENT) root.set(column.path, cell);
    }
    return root.map();
  }

  #cell({ inner }: Column, place: Place): ReadValue | typeof ABSENT {
    if (place === 'item' ? this.isAt(/,|$/y) : this.isAt(/-(?=[ ,\]]|$)/y)) {
      this.take('-');
      return ABSENT;
    }
    if (inner === undefined) return this.value(place);
    this.expect('[');
    return this.#rows(inner);
  }

  #rows(columns: readonly Column[]): ReadValue[] {
    return this.#list(() => this.row(columns, ' '));
  }

  #list<T>(item: () => T): T[] {
    const items: T[] = [];
    if (this.take(']')) return items;
    do items.push(item());
    while (this.take(','));
    this.expect(']');
    return items;
  }

  value(place: Place): ReadValue {
    if (this.take('[')) return this.#list(() => this.value('item'));
    if (this.take('(')) {
      const { columns } = this.columns();
      this.expect('[');
      return this.#rows(columns);
    }
    if (this.take('{')) {
      const root = new Tree();
      if (this.take('}')) return root.map();
      do root.set([this.name()], this.assigned());
      while (this.take(' '));
      this.expect('}');
      return root.map();
    }
    if (this.isAt(/"/y)) return this.#quoted();
    const plain = this.#match(PLAIN[place]);
    if (plain === undefined) throw new Error(`no value at ${this.#at} of ${this.#text}`);
    return scalar(plain);
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
  if (text === '-') throw new Error('an absent value');
  if (text === 'true' || text === 'false') return text === 'true';
  if (text === 'null') return null;
  if (/^-?\d+(?:\.\d+)?(?:e[+-]\d+)?$/.test(text)) return Number(text);
  return text.startsWith('$') ? { ref: text.slice(1) } : text;
}
