/** Returns whether the name of a database is the URL of a PostgreSQL server. */
export function isPostgres(name: string): boolean {
  return /^postgres(ql)?:/.test(name);
}
