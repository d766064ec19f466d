import { readdirSync } from 'node:fs';
import { Ajv2020, type AnySchema } from 'ajv/dist/2020.js';
import { describe, expect, test } from 'vitest';
import { ACCP_FILES, accpCases, readJson } from './fixtures.js';

interface FixtureFile {
  readonly cases: readonly { readonly id: string }[];
}

/** The files of cases with their schemas. */
const FILES = [
  ...ACCP_FILES.map((name) => ({ file: `accp/${name}.json`, schema: 'accp/fixture.schema.json' })),
  ...['courses', 'rejected'].map((name) => ({ file: `compact/${name}.json`, schema: 'compact/course.schema.json' })),
  { file: 'compact/registries.json', schema: 'compact/registry.schema.json' },
  // In these folders, each file has a schema of the same name. A test below finds files without one, and the reverse.
  ...['aacp', 'acp', 'arcp'].flatMap((folder) =>
    filesOf(folder)
      .filter((name) => !name.endsWith('.schema.json'))
      .map((name) => ({ file: `${folder}/${name}`, schema: `${folder}/${name.replace(/json$/, 'schema.json')}` })),
  ),
];

function filesOf(folder: string): readonly string[] {
  return readdirSync(new URL(folder, import.meta.url));
}

describe('conformance files', () => {
  test.each(FILES)('$file matches $schema', ({ file, schema }) => {
    const validate = new Ajv2020({ allErrors: true }).compile(readJson(schema) as AnySchema);
    validate(readJson(file));
    expect(validate.errors ?? []).toEqual([]);
  });

  test.each(FILES)('$file: ids are unique', ({ file }) => {
    const ids = (readJson(file) as FixtureFile).cases.map(({ id }) => id);
    expect(ids).toEqual([...new Set(ids)]);
  });

  test('ACCP ids are unique over all files', () => {
    const ids = accpCases().map(({ id }) => id);
    expect(ids).toEqual([...new Set(ids)]);
  });

  test('every file has a schema, and every schema a file', () => {
    const present = ['accp', 'compact', 'aacp', 'acp', 'arcp'].flatMap((folder) =>
      filesOf(folder).map((name) => `${folder}/${name}`),
    );
    const known = new Set(FILES.flatMap(({ file, schema }) => [file, schema]));
    expect(present.toSorted()).toEqual([...known].toSorted());
  });

  test('the offsets of errors are within their inputs', () => {
    for (const { id, input, error } of accpCases()) {
      if (error) expect(error.offset, id).toBeLessThanOrEqual(input.length);
    }
  });
});
