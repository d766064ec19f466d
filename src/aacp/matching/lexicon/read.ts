/** The tables of words are texts, so that they can be read and mended by those who know English. */

/** The entries of a table, parted by white space, or by the mark given. */
export function readTable(table: string, mark?: ';' | ','): readonly string[] {
  const parts = mark === undefined ? table.split(/\s+/) : table.split(mark);
  return parts.map((part) => part.trim().replace(/\s+/g, ' ')).filter(Boolean);
}

/** The lines `name: word, phrase` of a table, with the mark that parts the words. */
export function readClasses(
  table: string,
  mark: ';' | ',',
): readonly (readonly [name: string, words: readonly string[]])[] {
  return readTable(table.replaceAll('\n', '\u0000'), undefined)
    .join(' ')
    .split('\u0000')
    .map((line) => line.trim())
    .filter(Boolean)
    .map((line) => {
      const colon = line.indexOf(':');
      return [line.slice(0, colon), readTable(line.slice(colon + 1), mark)];
    });
}
