import { describe, expect, test } from 'vitest';
import { cli, jsonLines, scratchFolder } from '../../helpers/cli.js';

const scratch = scratchFolder();

const SCHEMA = {
  code: 'RP',
  version: 1,
  fields: ['query', 'rows'],
  types: { query: 'string' },
  defaults: { rows: 5 },
  operations: ['report'],
};
const OLD = { version: 3, schemas: { report: SCHEMA }, operations: ['lookup'] };

async function changesTo(now: object): Promise<{ readonly code: number; readonly changes: unknown[] }> {
  const [old, other] = [OLD, now].map((json, at) => scratch.write(`${at}.json`, JSON.stringify(json)));
  const { code, stdout, stderr } = await cli(['diff', '--json', old!, other!]);
  expect(stderr).toBe('');
  return { code, changes: jsonLines(stdout).map((change) => Object.values(change as object).slice(0, 3)) };
}

const withSchema = (members: object, version = 4) => ({
  ...OLD,
  version,
  schemas: { report: { ...SCHEMA, ...members, version: 2 } },
});

describe('two registries', () => {
  test.each([
    ['equal ones', OLD, []],
    ['a removed schema', { ...OLD, version: 4, schemas: {} }, [['schema-removed', true, 'report']]],
    [
      'a new schema',
      { ...OLD, version: 4, schemas: { report: SCHEMA, audit: { code: 'AU', version: 1, fields: ['reader'] } } },
      [['schema-added', false, 'audit']],
    ],
    ['another code', withSchema({ code: 'RQ' }), [['code', true, 'report.code']]],
    ['a removed field', withSchema({ fields: ['rows'], types: {} }), [['field-removed', true, 'report.query']]],
    ['a new field', withSchema({ fields: ['query', 'rows', 'note'] }), [['field-added', false, 'report.note']]],
    ['a narrower type', withSchema({ types: { query: 'string', rows: 'integer' } }), [['type', true, 'report.rows']]],
    ['a wider type', withSchema({ types: {} }), [['type', false, 'report.query']]],
    ['another default', withSchema({ defaults: { rows: 6 } }), [['default', true, 'report.rows']]],
    ['no default', withSchema({ defaults: {} }), [['default', true, 'report.rows']]],
    [
      'another operation of a schema',
      withSchema({ operations: ['digest'] }),
      [
        ['operation-removed', true, 'report.operations.report'],
        ['operation-added', false, 'report.operations.digest'],
      ],
    ],
    ['a removed operation', { ...OLD, version: 4, operations: [] }, [['operation-removed', true, 'operations.lookup']]],
    [
      'entries of compact frames',
      { ...OLD, version: 4, compact: { strings: ['abcd'] } },
      [['compact', false, 'compact']],
    ],
    [
      'the version of before',
      withSchema({ fields: ['query', 'rows', 'note'] }, 3),
      [
        ['version', true, 'version'],
        ['field-added', false, 'report.note'],
      ],
    ],
  ])('%s', async (_what, now, expected) => {
    const { code, changes } = await changesTo(now);
    expect(changes).toEqual(expected);
    expect(code).toBe(expected.some(([, isBreaking]) => isBreaking) ? 1 : 0);
  });

  test('are summed up', async () => {
    const [old, now] = [
      scratch.write('old.json', JSON.stringify(OLD)),
      scratch.write('new.json', JSON.stringify(withSchema({ fields: ['query', 'note'], defaults: {} }))),
    ];
    expect(await cli(['diff', old, now])).toEqual({
      code: 1,
      stdout:
        'breaking[field-removed]: report.rows: The field rows is gone.\nchange[field-added]: report.note: The field note is new.\n',
      stderr: '2 changes, 1 breaking\n',
    });
  });
});

describe('two grammars', () => {
  const grammar = (name: string, text: string): string => scratch.write(`${name}.peggy`, text);

  test('are compared by sentences of each that the other one rejects', async () => {
    const old = grammar('old', 'start = "a" / "b"+ / "c"');
    const now = grammar('new', 'start = "a" / "b" / "c" / "d"');
    const { code, stdout, stderr } = await cli(['diff', old, now, '--count', '200']);
    expect(code).toBe(1);
    expect(stdout).toMatch(/^breaking\[sentence-removed\]: \d+ of 200 sentences of old\.peggy [^:]*: bb\n/);
    expect(stdout).toMatch(/\nchange\[sentence-added\]: \d+ of 200 sentences of new\.peggy [^:]*: d\n$/);
    expect(stderr).toBe('2 changes, 1 breaking\n');
  });

  test('are the same if no sentence shows a change', async () => {
    const [old, now] = [grammar('one', 'start = "a"*'), grammar('two', 'start = a\na = "a" a / ""')];
    expect(await cli(['diff', old, now])).toEqual({ code: 0, stdout: '', stderr: '0 changes, 0 breaking\n' });
  });
});

test.each([
  [['a.json'], 'diff requires two files: the old one and the new one'],
  [['a.json', 'b.peggy'], 'diff compares two registries or two grammars (.peggy)'],
  [['missing.json', 'b.json'], 'Cannot read missing.json: there is no such file'],
])('%j ends with an error', async (args, message) => {
  const { code, stderr } = await cli(['diff', ...args]);
  expect(code).toBe(2);
  expect(stderr).toContain(message);
});

test('a file that is no registry is named', async () => {
  for (const text of ['x', '[]', '{"schemas":{"a":{}}}', '{"schemas":[]}']) {
    const file = scratch.write('odd.json', text);
    const { code, stderr } = await cli(['diff', file, file]);
    expect([text, code]).toEqual([text, 2]);
    expect(stderr).toContain('odd.json');
  }
});

test('an error in a registry is one sentence, with the file', async () => {
  const file = scratch.write('version.json', '{"version":"1","schemas":{}}');
  const { code, stderr } = await cli(['diff', file, file]);
  expect(code).toBe(2);
  expect(stderr).toMatch(/^error\[E1004\]: .*version\.json: version: must be an integer, not a string\.$/m);
});
