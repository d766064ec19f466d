import { readdirSync } from 'node:fs';
import { Ajv2020, type AnySchema } from 'ajv/dist/2020.js';
import { describe, expect, test } from 'vitest';
import { ACCP_FILES, accpCases, readJson } from './fixtures.js';

interface FixtureFile {
  readonly cases: readonly { readonly id: string }[];
}

/** Each file of cases and the schema that holds its shape. */
const FILES = [
  ...ACCP_FILES.map((name) => ({ file: `accp/${name}.json`, schema: 'accp/fixture.schema.json' })),
  // Each file of cases there has a schema of its name; one without, or a schema alone, fails below.
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
  test.each(FILES)('$file has the shape of $schema', ({ file, schema }) => {
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

  test('no file is left out', () => {
    const present = ['accp', 'aacp', 'acp', 'arcp'].flatMap((folder) =>
      filesOf(folder).map((name) => `${folder}/${name}`),
    );
    const known = new Set(FILES.flatMap(({ file, schema }) => [file, schema]));
    expect(present.toSorted()).toEqual([...known].toSorted());
  });

  test('an error lies within its input', () => {
    for (const { id, input, error } of accpCases()) {
      if (error) expect(error.offset, id).toBeLessThanOrEqual(input.length);
    }
  });
});
