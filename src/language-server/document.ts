/** An open document. A change reads again only the lines, or the rules of a grammar, that it changes. */
import { tableLines } from '../text/prose.js';
import type { Span } from '../text/span.js';
import { type Grammar, readGrammar } from './grammars/grammar.js';
import type { Finding } from './language.js';
import { LANGUAGES, type Message, messagesIn, offsetAtColumn, type Protocol, wholeLine } from './messages/find.js';
import { type Range, TextDocument, type TextDocumentContentChangeEvent } from './protocol.js';
import type { Settings } from './settings.js';

/** A line that was read. */
export interface ReadLine {
  readonly text: string;
  readonly isTable: boolean;
  readonly messages: readonly CheckedMessage[];
}

export interface CheckedMessage extends Message {
  readonly findings: readonly Finding[];
}

/** The content of a document: one message in each line, a grammar, or anything with messages in it. */
export type Content = Protocol | 'peggy' | 'other';

const SCRIPT = /^(?:java|type)script(?:react)?$|^(?:tsx|jsx|vue|svelte)$/;
const SCRIPT_FILE = /\.[cm]?[jt]sx?$/i;

export class OpenDocument {
  readonly uri: string;
  readonly content: Content;
  readonly #isScript: boolean;
  #text: TextDocument;
  /** One entry for each line; `undefined` if it is still to be read. */
  #lines: (ReadLine | undefined)[];
  #grammar: Grammar | undefined;
  /** The texts of which the grammar and the tables are. */
  #grammarText: string | undefined;
  #tablesOf: string | undefined;
  #tableLines: ReadonlySet<number> = new Set();
  #settings: Settings;
  /** The number of lines or rules that were parsed since the last call of `takeParsed`. */
  #parsed = 0;
  /** Findings of the plugin, which compiles the whole grammar. */
  notices: readonly Finding[] = [];

  constructor(uri: string, languageId: string, version: number, text: string, settings: Settings) {
    this.uri = uri;
    this.content = contentOf(uri, languageId);
    this.#isScript = SCRIPT.test(languageId) || SCRIPT_FILE.test(uri);
    this.#text = TextDocument.create(uri, languageId, version, text);
    this.#lines = new Array(this.#text.lineCount).fill(undefined);
    this.#settings = settings;
  }

  get version(): number {
    return this.#text.version;
  }

  get text(): string {
    return this.#text.getText();
  }

  get lineCount(): number {
    return this.#text.lineCount;
  }

  get settings(): Settings {
    return this.#settings;
  }

  /** Applies other settings, with which all lines are read again. */
  set settings(settings: Settings) {
    this.#settings = settings;
    this.#lines = new Array(this.lineCount).fill(undefined);
  }

  /** Applies changes in their order. */
  update(changes: readonly TextDocumentContentChangeEvent[], version: number): void {
    this.notices = [];
    for (const change of changes) {
      if ('range' in change) this.#replaceLines(change.range, change.text, version);
      else this.#replaceAll(change.text, version);
    }
  }

  #replaceLines(range: Range, text: string, version: number): void {
    // Ranges may be out of order, or beyond the end.
    const lines = [range.start, range.end].map((position) => this.#text.positionAt(this.#text.offsetAt(position)).line);
    const [first, last] = [Math.min(...lines), Math.max(...lines)];
    const before = this.lineCount;
    this.#text = TextDocument.update(this.#text, [{ range, text }], version);
    const added = this.lineCount - before;
    // The line ends around the change may have become one, or two.
    const from = Math.max(0, first - 1);
    const to = Math.min(before, last + 2);
    const known = new Map(this.#lines.slice(from, to).map((line) => [line?.text, line]));
    const changed = Array.from({ length: to - from + added }, (_, index) => known.get(this.lineText(from + index)));
    this.#lines = [...this.#lines.slice(0, from), ...changed, ...this.#lines.slice(to)];
  }

  #replaceAll(text: string, version: number): void {
    const known = new Map(this.#lines.map((line) => [line?.text, line]));
    this.#text = TextDocument.update(this.#text, [{ text }], version);
    this.#lines = Array.from({ length: this.lineCount }, (_, line) => known.get(this.lineText(line)));
  }

  /** Returns a line without its end. */
  lineText(line: number): string {
    const text = this.#text.getText({ start: { line, character: 0 }, end: { line: line + 1, character: 0 } });
    return text.replace(/(?:\r\n|\r|\n)$/, '');
  }

  /** Returns the lines with their messages; all of them, or a part. */
  lines(first = 0, last = this.lineCount - 1): readonly (readonly [number, ReadLine])[] {
    if (this.content === 'peggy') return [];
    const tables = this.content === 'other' ? this.#tables() : undefined;
    const result: (readonly [number, ReadLine])[] = [];
    for (let line = Math.max(0, first); line <= Math.min(last, this.lineCount - 1); line++) {
      const isTable = tables?.has(this.#text.offsetAt({ line, character: 0 })) ?? false;
      let read = this.#lines[line];
      if (read === undefined || read.isTable !== isTable) {
        read = this.#read(line, isTable);
        this.#lines[line] = read;
        this.#parsed++;
      }
      result.push([line, read]);
    }
    return result;
  }

  #read(line: number, isTable: boolean): ReadLine {
    const text = this.lineText(line);
    const { dialect, embedded } = this.#settings;
    const messages =
      this.content === 'accp' || this.content === 'aacp'
        ? wholeLine(text, this.content)
        : messagesIn(text, { dialect, isScript: this.#isScript, isTable });
    return {
      text,
      isTable,
      messages: messages.map((message) => ({ ...message, findings: this.#check(message, embedded) })),
    };
  }

  #check(message: Message, embedded: Settings['embedded']): readonly Finding[] {
    const isOther = this.content === 'other';
    if (isOther && embedded === 'off') return [];
    const { protocol, text, holes } = message;
    const findings = LANGUAGES[protocol]
      .check(text, this.#settings)
      // What an interpolation stands for is unknown.
      .filter(({ span }) => !holes.some((hole) => span.start <= hole.end && hole.start <= span.end));
    return isOther && embedded === 'warning'
      ? findings.map((finding) =>
          finding.severity === 'error' ? { ...finding, severity: 'warning' as const } : finding,
        )
      : findings;
  }

  #tables(): ReadonlySet<number> {
    if (this.#tablesOf !== this.text) {
      this.#tablesOf = this.text;
      this.#tableLines = this.text.includes('|') ? tableLines(this.text) : new Set();
    }
    return this.#tableLines;
  }

  /** Returns the grammar; `null` if the document is none. */
  get grammar(): Grammar | null {
    if (this.content !== 'peggy') return null;
    if (this.#grammarText !== this.text) {
      this.#grammar = readGrammar(this.text, this.#grammar);
      this.#grammarText = this.text;
      this.#parsed += this.#grammar.parsed;
    }
    return this.#grammar!;
  }

  /** Returns the message at a position, and the offset in its text; of two that touch, the first. */
  messageAt({ line, character }: Range['start']): { readonly message: CheckedMessage; readonly offset: number } | null {
    const read = this.lines(line, line)[0]?.[1];
    const message = read?.messages.find(({ start, end }) => start <= character && character <= end);
    if (message === undefined) return null;
    const offset = offsetAtColumn(message, character);
    return { message, offset };
  }

  /** Converts a span of a message to a range of the document. */
  rangeIn(line: number, { columnOf }: Message, { start, end }: Span): Range {
    return { start: { line, character: columnOf(start) }, end: { line, character: columnOf(end) } };
  }

  /** Converts offsets of the document. */
  range({ start, end }: Span): Range {
    return { start: this.#text.positionAt(start), end: this.#text.positionAt(end) };
  }

  offsetAt(position: Range['start']): number {
    return this.#text.offsetAt(position);
  }

  /** Returns the number of lines or rules parsed since the last call. */
  takeParsed(): number {
    const parsed = this.#parsed;
    this.#parsed = 0;
    return parsed;
  }
}

function contentOf(uri: string, languageId: string): Content {
  const ending = /\.(accp|aacp|peggy|pegjs)$/i.exec(uri)?.[1]?.toLowerCase() ?? languageId;
  if (ending === 'pegjs') return 'peggy';
  return ending === 'accp' || ending === 'aacp' || ending === 'peggy' ? ending : 'other';
}
