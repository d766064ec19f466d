/** Keys that are not made of letters, digits and `_` (draft-benzing-accp-00, section 3.1), spelled with those. */
import { fromHex, toHex } from './hex.js';

const WORD = /^[A-Za-z0-9_]+$/;
/** Begins every escaped key, and no other one that was written under transliteration. */
const MARK = '_0';
/** The payload's parameter that names the schema, and is no data. */
const SCHEMA = 'schema';

/** Whether a key can stand in a frame as it is. `schema` cannot on top of a payload, where it means something else. */
export function isPlainKey(key: string, isTop: boolean): boolean {
  return WORD.test(key) && !(isTop && key === SCHEMA);
}

/**
 * Any key as letters, digits and `_`, reversibly: itself, or behind a mark with `__` for `_`, and with the hexadecimal code units
 * of all else between two `_`. `file-name` is `_0file_2d_name`.
 */
export function transliterateKey(key: string, isTop: boolean): string {
  if (isPlainKey(key, isTop) && !isMarkedKey(key)) return key;
  return MARK + key.replace(/_|[^A-Za-z0-9_]+/g, (run) => (run === '_' ? '__' : `_${toHex(run)}_`));
}

export function isMarkedKey(written: string): boolean {
  // Every key that is read comes by here: this is faster than startsWith.
  return written.charCodeAt(0) === 0x5f && written.charCodeAt(1) === 0x30;
}

/** The key that a marked one stands for; `null` when it cannot be read. */
export function keyOfMarked(written: string): string | null {
  // Every other piece is hexadecimal, and an empty one of them is a `_`.
  const pieces = written.slice(MARK.length).split('_');
  if (pieces.length % 2 === 0) return null;
  let key = '';
  for (let index = 0; index < pieces.length; index++) {
    const piece = pieces[index]!;
    const read = index % 2 === 0 ? piece : piece === '' ? '_' : fromHex(piece);
    if (read === null) return null;
    key += read;
  }
  return key;
}
