/** Short and full names of keys (draft-benzing-accp-00, sections 3.5, 4.2 and 10). */

import { ABBREVIATIONS } from '../vocabulary.js';

type FieldTable = ReturnType<typeof tableOf>;

/** Table 8: the abbreviations by full name. A word with two meanings there has one here, so that both directions are exact. */
const STANDARD: Readonly<Record<string, string>> = Object.fromEntries(
  Object.entries({ ...ABBREVIATIONS, ttl: 'ttl', ctx: 'context' }).map(([short, word]) => [
    word.replace(' ', '_'),
    short,
  ]),
);

/** As in the examples of section 10 (for ER, of section 3.6). */
const PROFILES: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  CH: {},
  TC: { tool_name: 'tool', arguments: 'args', result: 'res', status: 'stat' },
  TX: { transaction_id: 'txn', amount: 'amt', account: 'acc', status: 'stat' },
  ST: { chunk_index: 'idx', total_chunks: 'tot', is_final: 'done' },
  TA: { assignee: 'asgn', deadline: 'dead', status: 'stat', progress: 'prog' },
  ER: { message: 'msg', retryable: 'retry' },
};

const STANDARD_TABLE = tableOf(STANDARD);
const PROFILE_TABLES: ReadonlyMap<string, FieldTable> = new Map(
  Object.entries(PROFILES).map(([schema, own]) => [schema, tableOf({ ...STANDARD, ...own })]),
);

/** Returns the abbreviations of a payload's top-level keys: Table 8, and those of the profile with the schema code `schema`. */
export function keyTable(schema: string | undefined): FieldTable {
  return (schema === undefined ? undefined : PROFILE_TABLES.get(schema)) ?? STANDARD_TABLE;
}

/** No word is both a full name and an abbreviation; a test checks this. */
function tableOf(names: Readonly<Record<string, string>>) {
  const fields = Object.entries(names);
  const short = new Map(fields);
  const full = new Map(fields.map(([name, abbreviation]) => [abbreviation, name]));
  return {
    fields,
    abbreviate: (key: string): string => short.get(key) ?? key,
    expand: (key: string): string => full.get(key) ?? key,
  };
}
