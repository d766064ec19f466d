/** The CSV files of the lab, read as tables of text. */
import { readFileSync } from 'node:fs';
import { parse } from 'csv-parse/sync';
import { PegwireError } from '../../../src/text/errors.js';

/** The error thrown when the lab cannot continue. Codes: `csv-invalid`, `usage`, and the reasons of refused packets. */
export class LabError extends PegwireError {
  override readonly name: string = 'LabError';
}

/** A row of a table: texts by column. */
export type Row<Column extends string> = Readonly<Record<Column, string>>;

/**
 * Reads a CSV file with a heading. Other cells than keys and dates are texts, since each reader decides what a bad cell means for it.
 *
 * @throws LabError `csv-invalid` if the file cannot be read or parsed, a column is missing, there are no rows, two rows have one
 * key, or a date has another form than 2026-02-28
 */
export function readTable<Column extends string>(
  file: URL,
  columns: readonly Column[],
  { key = [], dates = [] }: { readonly key?: readonly Column[]; readonly dates?: readonly Column[] } = {},
): readonly Row<Column>[] {
  const name = file.pathname.slice(file.pathname.lastIndexOf('/') + 1);
  let rows: readonly Row<Column>[];
  let heading: readonly string[] = [];
  try {
    rows = parse(readFileSync(file), {
      bom: true,
      columns: (names: string[]) => {
        heading = names;
        return names;
      },
    });
  } catch (cause) {
    const message = `${name} cannot be read: ${(cause as Error).message}`;
    throw new LabError({ code: 'csv-invalid', message }, { cause });
  }
  const missing = columns.find((column) => !heading.includes(column));
  if (missing !== undefined) throw new LabError({ code: 'csv-invalid', message: `${name} has no column ${missing}` });
  if (rows.length === 0) throw new LabError({ code: 'csv-invalid', message: `${name} has no rows` });
  const seen = new Set<string>();
  for (const row of rows) {
    const own = key.map((column) => row[column]).join(' ');
    if (key.length > 0 && seen.size === seen.add(own).size)
      throw new LabError({ code: 'csv-invalid', message: `${name} has ${own} twice` });
    const bad = dates.find((column) => row[column] !== '' && !isDate(row[column]));
    if (bad !== undefined) {
      const message = `${name}: ${bad} of ${own} is ${JSON.stringify(row[bad])}, and not a date such as 2026-02-28`;
      throw new LabError({ code: 'csv-invalid', message });
    }
  }
  return rows;
}

/** Dates are compared as texts, so all must have one form. */
function isDate(text: string): boolean {
  return (
    /^\d{4}-\d\d-\d\d$/.test(text) && !Number.isNaN(Date.parse(text)) && new Date(text).toISOString().startsWith(text)
  );
}

/** Reads a number with at most two decimals as hundredths, so that sums are exact; `null` if the text is not one. */
export function hundredths(text: string): number | null {
  const [, whole, fraction = ''] = /^(\d{1,9})(?:\.(\d{1,2}))?$/.exec(text) ?? [];
  return whole === undefined ? null : Number(whole) * 100 + Number(fraction.padEnd(2, '0'));
}
