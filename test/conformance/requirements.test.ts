import { readFileSync } from 'node:fs';
import { Ajv2020, type AnySchema } from 'ajv/dist/2020.js';
import { describe, expect, test } from 'vitest';
import { readJson } from './fixtures.js';
import { inconsistent, miscounted, missingTests, uncited } from './requirements/check.js';
import { LISTS, type Requirement, type RequirementList, readRequirements } from './requirements/list.js';
import { readTestFile } from './requirements/titles.js';

const ROOT = new URL('../../', import.meta.url);

function source(file: string): string | null {
  try {
    return readFileSync(new URL(file, ROOT), 'utf8');
  } catch {
    return null;
  }
}

describe.each(LISTS)('the requirements of %s', (name) => {
  const requirements = readRequirements(name);

  test('match their schema', () => {
    const schema = readJson('requirements/requirements.schema.json') as AnySchema;
    const validate = new Ajv2020({ allErrors: true }).compile(schema);
    validate(requirements);
    expect(validate.errors ?? []).toEqual([]);
  });

  test('each have a test or an exception, and not both', () => {
    expect(uncited(requirements)).toEqual([]);
  });

  test('cite tests that exist', () => {
    expect(missingTests(requirements, source)).toEqual([]);
  });

  test('account for every key word, table row, item and defined word of the specification', () => {
    expect(miscounted(requirements)).toEqual([]);
  });

  test('have unique ids, and the levels of their key words', () => {
    expect(inconsistent(requirements)).toEqual([]);
  });
});

/** Creates a list of one entry. */
function list(entry: Partial<Requirement> = {}, more: Partial<RequirementList> = {}): RequirementList {
  const requirement: Requirement = {
    id: '3.5-mid',
    section: '3.5',
    level: 'MUST',
    kind: 'requirement',
    conformance: 1,
    text: 'A frame has a mid.',
    tests: ['a.test.ts > frames > have a mid'],
    ...entry,
  };
  const levels = [{ level: 1, title: '', about: '' }] as const;
  const empty = { protocol: '', source: '', scope: '', levels, keywords: {}, tables: {}, items: {}, values: {} };
  return { ...empty, requirements: [requirement], ...more };
}

const FILE = `
describe('frames', () => {
  test('have a mid', () => {});
  test.each([['seq', 1]])('have %s', () => {});
  test.each([{ name: 'ts' }])('want $name.of it', () => {});
  test.skip('have a cid', () => {});
  test.todo('have an aid');
  for (const name of ['sid']) test(\`have the \${name} of the session\`, () => {});
});
describe.skip('others', () => { test('are there', () => {}); });
`;
const read = (file: string): string | null => (file === 'a.test.ts' ? FILE : null);

describe('the checks of a list', () => {
  test('find an entry without tests', () => {
    expect(uncited(list())).toEqual([]);
    expect(uncited(list({ tests: [] }))).toHaveLength(1);
    expect(uncited(list({ tests: [], exception: 'It is left to authors.' }))).toEqual([]);
  });

  test('find an exception that is out of date', () => {
    expect(uncited(list({ exception: 'It is left to authors.' }))).toEqual([expect.stringContaining('out of date')]);
    expect(uncited(list({ later: 'It is a step of its own.' }))).toEqual([expect.stringContaining('out of date')]);
  });

  test('accept "later", but not together with "exception"', () => {
    const later = 'It is a step of its own.';
    expect(uncited(list({ tests: [], later }))).toEqual([]);
    expect(uncited(list({ tests: [], later, exception: 'It is left to authors.' }))).toHaveLength(1);
  });

  test.each([
    ['frames > have a mid', true],
    ['frames > have %s', true],
    ['frames > have seq', true],
    ['frames > want ts it', true],
    ['frames > have the sid of the session', true],
    ['frames > have a nonce', false],
    ['frames > have ttl', false],
    ['frames > have a cid', false],
    ['frames > have an aid', false],
    ['frames', false],
    ['have a mid', false],
    ['others > are there', false],
  ])('determine whether the test "%s" exists', (title, exists) => {
    expect(missingTests(list({ tests: [`a.test.ts > ${title}`] }), read)).toHaveLength(exists ? 0 : 1);
  });

  test('find a file that does not exist', () => {
    expect(missingTests(list({ tests: ['b.test.ts > frames > have a mid'] }), read)).toHaveLength(1);
  });

  test('read the titles of a file without running it', () => {
    expect(readTestFile(FILE).tests.map(({ text }) => text)).toEqual([
      'frames > have a mid',
      'frames > have %s',
      'frames > want $name.of it',
      'frames > have the %s of the session',
    ]);
  });

  test.each<readonly [string, Partial<Requirement>, Partial<RequirementList>, number]>([
    ['a key word that is accounted for', { keyword: 'MUST' }, { keywords: { '3.5': { MUST: 1 } } }, 0],
    ['a key word without an entry', {}, { keywords: { '3.5': { MUST: 1 } } }, 1],
    ['an entry for a missing key word', { keyword: 'MUST' }, {}, 1],
    ['a row that is accounted for', { kind: 'table-row', table: 'Table 4' }, { tables: { 'Table 4': 1 } }, 0],
    ['a row without an entry', { kind: 'table-row', table: 'Table 4' }, { tables: { 'Table 4': 2 } }, 1],
    ['an item that is accounted for', { kind: 'step', item: 1 }, { items: { '3.5': 1 } }, 0],
    ['an item without an entry', { kind: 'step', item: 1 }, { items: { '3.5': 2 } }, 1],
    ['an entry for a missing item', { kind: 'step', item: 2 }, {}, 1],
    ['words that are accounted for', { values: ['mid', 'cid'] }, { values: { 3.5: 2 } }, 0],
    ['a word without an entry', { values: ['mid'] }, { values: { 3.5: 2 } }, 1],
    ['words of a section that defines none', { values: ['mid'] }, {}, 1],
    ['ids that are accounted for', { id: 'E01' }, { ids: ['E01'] }, 0],
    ['an id without an entry', { id: 'E01' }, { ids: ['E01', 'E02'] }, 1],
    ['an entry whose id is not listed', { id: 'E01' }, { ids: [] }, 1],
  ])('count %s', (_title, entry, more, problems) => {
    expect(miscounted(list(entry, more))).toHaveLength(problems);
  });

  test.each<readonly [string, Partial<Requirement>]>([
    ['an id of another section', { section: '3.6' }],
    ['a level that contradicts its key word', { keyword: 'SHOULD' }],
    ['a row without a table', { kind: 'table-row' }],
    ['a step without a number', { kind: 'step' }],
    ['a reading with the level of a requirement', { kind: 'reading' }],
    ['an unknown conformance level', { conformance: 2 }],
    ['a test that is cited twice', { tests: ['a.test.ts > x', 'a.test.ts > x'] }],
  ])('find %s', (_title, entry) => {
    expect(inconsistent(list(entry))).toHaveLength(1);
  });

  test('support specifications without conformance levels', () => {
    const { conformance: _, ...entry } = list().requirements[0]!;
    expect(inconsistent({ ...list(), levels: [], requirements: [entry] })).toEqual([]);
    expect(inconsistent({ ...list(), levels: [] })).toHaveLength(1);
    expect(inconsistent({ ...list(), requirements: [entry] })).toHaveLength(1);
  });

  test('support specifications whose requirements are numbered by the list', () => {
    const { conformance: _, ...entry } = { ...list().requirements[0]!, id: 'E01', section: 'Message Envelope' };
    expect(inconsistent({ ...list(), levels: [], ids: ['E01'], requirements: [entry] })).toEqual([]);
  });

  test('find an id that is not unique', () => {
    const { requirements } = list();
    expect(inconsistent({ ...list(), requirements: [...requirements, ...requirements] })).toHaveLength(1);
  });
});
