/** Entries as rows. */
import type { Row } from '../../storage/database.js';
import { ORIGINS } from './checked-entry.js';
import { entryWith } from './entries.js';
import type { NewEntry, RegistryEntry } from './registry.js';

/** What a row holds beside the columns. */
const TEXTS = [
  'id',
  'normalised',
  'domain',
  'returnAgent',
  'priority',
  'version',
  'instruction',
  'packet',
] as const satisfies readonly (keyof NewEntry)[];

const DATA = [...TEXTS, 'origin', 'model', 'terms', 'said'] as const satisfies readonly (keyof NewEntry)[];

type Data = Pick<NewEntry, (typeof DATA)[number]>;

/** A text as a column can hold it, and compare it: any text, each another one. Most are their own. */
export function columnText(text: string): string {
  return JSON.stringify(text).slice(1, -1);
}

/** What {@link columnText} was given. */
export function textOf(column: string): string {
  return JSON.parse(`"${column}"`) as string;
}

export function dataOf(entry: NewEntry): string {
  return JSON.stringify(entry, [...DATA]);
}

/** The entry of a row; `null` when the row is damaged. */
export function entryOf(row: Row): RegistryEntry | null {
  try {
    const data = JSON.parse(row['data'] as string) as unknown;
    if (!isData(data)) return null;
    const entry: Pick<NewEntry, 'key' | 'cost'> = {
      key: textOf(row['key'] as string),
      cost: row['cost'] as number | null,
    };
    return entryWith(Object.assign(data, entry), {
      created: row['created'] as number,
      lastSeen: row['last_seen'] as number,
      timesSeen: row['times_seen'] as number,
      covered: row['covered'] === 1,
    });
  } catch {
    return null;
  }
}

/** By hand: it is done for each entry that is read, and a schema would take longer than all else. */
function isData(value: unknown): value is Data {
  if (typeof value !== 'object' || value === null) return false;
  const data = value as Readonly<Record<keyof Data, unknown>>;
  if (!TEXTS.every((name) => typeof data[name] === 'string')) return false;
  if (data.model !== null && typeof data.model !== 'string') return false;
  if (data.said !== undefined && typeof data.said !== 'number') return false;
  if (!(ORIGINS as readonly unknown[]).includes(data.origin)) return false;
  return Array.isArray(data.terms) && data.terms.every((term) => typeof term === 'string');
}
