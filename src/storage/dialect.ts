/** The differences between the SQL of SQLite and of PostgreSQL that the stores on {@link Database} meet. */

/** The SQL of one kind of database. */
export interface Dialect {
  /** Returns the table for a FROM, INTO or UPDATE; columns can be qualified with its short name. */
  readonly table: (name: string) => string;
  /** Ends a SELECT whose rows must not change before the end of the transaction. */
  readonly forUpdate: string;
  /** Returns a table with the column `value`: the texts of a JSON list. */
  readonly texts: (parameter: string) => string;
  /** Returns a table with the column `value`: the members of a JSON list as JSON. */
  readonly members: (parameter: string) => string;
  /** Returns an aggregate that joins integers with commas, in descending order if the rows come so. */
  readonly joined: (column: string) => string;
}

/** The SQL of SQLite, where a transaction locks the whole file. */
export const SQLITE: Dialect = {
  table: (name) => name,
  forUpdate: '',
  texts: (parameter) => `json_each(${parameter})`,
  members: (parameter) => `json_each(${parameter})`,
  joined: (column) => `group_concat(${column})`,
};

/** Returns the SQL of PostgreSQL. @param schema the quoted name */
export function postgresDialect(schema: string, prefix: string): Dialect {
  return {
    table: (name) => `${schema}.${prefix}_${name} AS ${name}`,
    forUpdate: 'FOR UPDATE',
    texts: (parameter) => `json_array_elements_text(CAST(CAST(${parameter} AS text) AS json))`,
    members: (parameter) => `json_array_elements(CAST(CAST(${parameter} AS text) AS json))`,
    joined: (column) => `string_agg(CAST(${column} AS text), ',' ORDER BY ${column} DESC)`,
  };
}
