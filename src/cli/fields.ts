/** Field lists as they are written on a command line: `q:string,limit:integer?,pri=high|low`. */
import { UsageError } from './options/command.js';

/** One field, not yet judged: the protocols know which keys, types and values there are. */
export interface WrittenField {
  readonly key: string;
  /** Null where none is named. */
  readonly types: readonly string[] | null;
  /** The values allowed; null where none is named. */
  readonly values: readonly string[] | null;
  readonly optional: boolean;
}

const FORM = 'key, key:TYPE, key:TYPE|TYPE or key=VALUE|VALUE, each with "?" at its end if it may be left out';

/**
 * Reads a list of fields, parted by commas. Values that hold a comma, a bar, or a question mark at their end cannot be written so.
 *
 * @throws UsageError on what is no such list, or has a key twice
 */
export function readFields(option: string, text: string): readonly WrittenField[] {
  const fields = text.split(',').map((part) => readField(option, part));
  const seen = new Set<string>();
  for (const { key } of fields) {
    if (seen.has(key)) throw new UsageError(`--${option} has the key "${key}" twice`);
    seen.add(key);
  }
  return fields;
}

function readField(option: string, part: string): WrittenField {
  const match = /^\s*([^:=?|\s]+)(?:([:=])(.*?))?(\?)?\s*$/.exec(part);
  const [, key, sign, listed, mark] = match ?? [];
  const words = listed?.split('|');
  if (key === undefined || words?.includes(''))
    throw new UsageError(`--${option}: "${part}" is no field; write ${FORM}`);
  return {
    key,
    types: sign === ':' ? words! : null,
    values: sign === '=' ? words! : null,
    optional: mark !== undefined,
  };
}

/** Words parted by commas. @throws UsageError on an empty one */
export function readWords(option: string, text: string): readonly string[] {
  const words = text.split(',').map((word) => word.trim());
  if (words.includes('')) throw new UsageError(`--${option} has an empty word between its commas`);
  return words;
}
