import type { TokenScope } from './scopes.js';
import type { TokenTable } from './token-table.js';

/** What colours a language: its tokens, line by line, and what they are. */
export interface EditorLanguage {
  /** For people. */
  readonly name: string;
  /** Lower case; it ends every TextMate scope, and is the name of CodeMirror's mode: `accp`. */
  readonly id: string;
  /** Endings of file names, without the dot. */
  readonly fileTypes: readonly string[];
  readonly table: TokenTable;
  /** By the names of the table's tokens. */
  readonly scopes: Readonly<Record<string, TokenScope>>;
}
