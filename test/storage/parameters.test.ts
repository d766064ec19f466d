/** The parameters of SQL statements. */
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';

test('no statement numbers its parameters: better-sqlite3 takes numbered ones for named ones, and rejects a list', () => {
  const files = readdirSync('src', { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.ts'));
  const statements = files.flatMap(
    (file) =>
      readFileSync(path.join('src', file), 'utf8').match(/`[^`]*\b(?:SELECT|UPDATE|INSERT|DELETE)\b[^`]*`/g) ?? [],
  );
  expect(statements.length).toBeGreaterThan(50);
  expect(statements.filter((statement) => /\?[1-9]/.test(statement))).toEqual([]);
});
