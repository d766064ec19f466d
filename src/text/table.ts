/** Tables of plain text. */

export interface Table {
  readonly header: readonly string[];
  readonly rows: readonly (readonly string[])[];
}

/**
 * Aligns the first column to the left, the others to the right. If a line would have more than `columns` characters, each row becomes a list
 * of its cells instead.
 */
export function textTable({ header, rows }: Table, columns = Number.POSITIVE_INFINITY): string {
  const widths = header.map((_cell, column) => Math.max(...[header, ...rows].map((row) => row[column]?.length ?? 0)));
  const line = (row: readonly string[]): string =>
    widths
      .map((width, column) => (column === 0 ? (row[0] ?? '').padEnd(width) : (row[column] ?? '').padStart(width)))
      .join('  ')
      .trimEnd();
  const lines = [header, ...rows].map(line);
  return lines.some(({ length }) => length > columns) ? listed({ header, rows }) : lines.join('\n');
}

function listed({ header: [, ...titles], rows }: Table): string {
  return rows
    .flatMap(([first = '', ...cells]) => [
      first,
      ...titles.flatMap((title, at) => ((cells[at] ?? '') === '' ? [] : [`  ${title}: ${cells[at]}`])),
    ])
    .join('\n');
}
