/** Short and full names of keys (draft-benzing-accp-00, sections 3.5, 4.2 and 10). */

/** The two ways between the full names of keys and their abbreviations; other keys stay as they are. */
interface KeyTable {
  readonly abbreviate: (key: string) => string;
  readonly expand: (key: string) => string;
}

/** A table that can be looked through, too. */
interface FieldTable extends KeyTable {
  /** Full name and abbreviation of each field, in the order of the draft. */
  readonly fields: readonly (readonly [name: string, abbreviation: string])[];
}

/** Table 8. A word with two meanings there has one here, so that both ways are exact. */
const STANDARD = {
  data: 'd',
  findings: 'f',
  next_action: 'nx',
  source: 'src',
  destination: 'dst',
  query: 'q',
  format: 'fmt',
  priority: 'pri',
  error: 'err',
  version: 'v',
  timestamp: 'ts',
  ttl: 'ttl',
  context: 'ctx',
  target: 'who',
  when: 'when',
  reason: 'why',
};

/** What the examples of section 10 (for ER, of section 3.6) write in frames of each profile. */
const PROFILES: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  CH: {},
  TC: { tool_name: 'tool', arguments: 'args', result: 'res', status: 'stat' },
  TX: { transaction_id: 'txn', amount: 'amt', account: 'acc', status: 'stat' },
  ST: { chunk_index: 'idx', total_chunks: 'tot', is_final: 'done' },
  TA: { assignee: 'asgn', deadline: 'dead', status: 'stat', progress: 'prog' },
  ER: { message: 'msg', retryable: 'retry' },
};

/** The fields of the envelope (Table 4). */
export const ENVELOPE_FIELDS: FieldTable = tableOf({
  msg_id: 'mid',
  sequence: 'seq',
  timestamp: 'ts',
  correlation_id: 'cid',
  causation_id: 'aid',
  session_id: 'sid',
  ttl: 'ttl',
});

const STANDARD_TABLE = tableOf(STANDARD);
const PROFILE_TABLES: ReadonlyMap<string, FieldTable> = new Map(
  Object.entries(PROFILES).map(([schema, own]) => [schema, tableOf({ ...STANDARD, ...own })]),
);

/**
 * The abbreviations of a payload's keys: those of Table 8, and in frames of a profile's schema that profile's. They are for the
 * keys of the payload itself and not for those of maps in it.
 *
 * @param schema the code of the frame's schema: `CH`, `TC`, `TX`, `ST`, `TA`, `ER`; others add nothing
 */
export function keyTable(schema: string | undefined): FieldTable {
  return (schema === undefined ? undefined : PROFILE_TABLES.get(schema)) ?? STANDARD_TABLE;
}

/** A word that is both a full name and another's abbreviation would not come back; a test holds that there is none. */
function tableOf(names: Readonly<Record<string, string>>): FieldTable {
  const fields = Object.entries(names);
  const short = new Map(fields);
  const full = new Map(fields.map(([name, abbreviation]) => [abbreviation, name]));
  return {
    fields,
    abbreviate: (key) => short.get(key) ?? key,
    expand: (key) => full.get(key) ?? key,
  };
}
