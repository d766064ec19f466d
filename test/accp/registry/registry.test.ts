import { describe, expect, test } from 'vitest';
import type { SchemaDefinition } from '../../../src/accp/message/json.js';
import {
  createRegistry,
  exportRegistry,
  matchesHash,
  type Registry,
  type RegistryJson,
  registerOperation,
  registerSchema,
  shortHash,
} from '../../../src/accp/registry/registry.js';
import { refusal } from './refusals.js';

/** The example of section 6.2. */
const DRAFT: RegistryJson = {
  schemas: {
    sales_report: {
      code: 'SR',
      version: 1,
      fields: ['period', 'revenue', 'growth_pct', 'segments', 'notes'],
      defaults: { period: 'quarterly', segments: [] },
    },
    task_assignment: {
      code: 'TA',
      version: 2,
      fields: ['assignee', 'task', 'priority', 'deadline', 'deps'],
      defaults: { priority: 'medium', deps: [] },
    },
  },
};
const REPORT = DRAFT.schemas['sales_report']!;
const BASE = createRegistry();

/** JSON there and back, as a file or a peer has it. */
function reread(registry: Registry): Registry {
  return createRegistry(JSON.parse(JSON.stringify(exportRegistry(registry))));
}

describe('a new registry', () => {
  test('has the schemas of the profiles, by name and by code', () => {
    const codes = Object.entries(BASE.schemas).map(([name, { code }]) => `${name} ${code}`);
    expect(codes).toEqual([
      'chat CH',
      'tool_call TC',
      'transaction TX',
      'stream_chunk ST',
      'task_assignment TA',
      'error ER',
    ]);
    expect(BASE.byCode('TX')).toBe(BASE.schemas['transaction']);
    expect(BASE.byCode('constructor')).toBeUndefined();
    expect(BASE.schemas['constructor']).toBeUndefined();
    expect(BASE.version).toBe(1);
  });

  test('has the core operations of section 4.3', () => {
    const core =
      'analyze plan execute review approve reject fetch transform summarize classify generate validate schedule notify merge split route cache purge';
    expect(BASE.operations.slice(0, 19)).toEqual(core.split(' '));
    expect(BASE.operations.slice(19)).toEqual(['chat', 'tool', 'transaction', 'error']);
  });

  test('is extended by the new parts of the example of the draft', () => {
    const registry = createRegistry(DRAFT);
    expect(registry.version).toBe(2);
    expect(registry.byCode('SR')).toEqual(REPORT);
    expect(registry.byCode('TA')).toEqual(BASE.byCode('TA'));
  });
});

describe('the hash', () => {
  // Worked out by another program: SHA-256 over JSON with sorted keys and without white space.
  const umlaut = { ...REPORT, defaults: { period: 'viertelj\u00e4hrlich', segments: [{ b: 0.5, a: null }] } };
  test.each<[string, Registry, string]>([
    ['the profiles', BASE, '6bed90239bd40b79c27cb1cb7cbaed61c1e2893235ccc6ee0835c3ca93f11d38'],
    ["the draft's example", createRegistry(DRAFT), 'cd0cec838c1860a570ae7b44aed1a1d104378d8dedee6cf5a9d561d2a01e2294'],
    [
      'text beyond ASCII',
      createRegistry({ schemas: { sales_report: umlaut } }),
      '418771154f05b61461247b65907833efa223f141a2c988f733eb2ad26c2ff1b7',
    ],
    [
      'operations of their own',
      createRegistry({ ...DRAFT, operations: ['rollback', 'deploy', 'plan'] }),
      '1e047fa7e78e613aebedb758d69583c014e3301321907a8e2397793a7f5daa58',
    ],
  ])('of %s is fixed', (_, registry, hash) => {
    expect(registry.hash).toBe(hash);
    expect(reread(registry).hash).toBe(hash);
  });

  test('does not depend on the order of registrations and members', () => {
    const other = { code: 'OT', version: 1, fields: ['a', 'b'], defaults: { a: { x: 1, y: 2 }, b: 3 } };
    const reordered = { defaults: { b: 3, a: { y: 2, x: 1 } }, fields: ['a', 'b'], version: 1, code: 'OT' };
    const one = registerSchema(registerSchema(BASE, 'other', other), 'sales_report', REPORT);
    const two = registerSchema(registerSchema(BASE, 'sales_report', REPORT), 'other', reordered);
    expect(one.hash).toBe(two.hash);
  });

  test.each<[string, Partial<SchemaDefinition>]>([
    ['code', { code: 'SX' }],
    ['version', { version: 2 }],
    ['order of fields', { fields: ['revenue', 'period', 'growth_pct', 'segments', 'notes'] }],
    ['defaults', { defaults: { period: 'yearly', segments: [] } }],
    ['types', { types: { notes: 'string' } }],
    ['operations', { operations: ['report'] }],
  ])('changes with the %s', (_, change) => {
    const changed = createRegistry({ schemas: { sales_report: { ...REPORT, ...change } } });
    expect(changed.hash).not.toBe(createRegistry({ schemas: { sales_report: REPORT } }).hash);
  });

  test.each([
    ['a7f2c1b8', 'a7f2c1'],
    ['00000a11', '00000a'],
    ['000000a1', '000000a'],
    ['1234567890123c45', '1234567890123c'],
    ['0123456789', '0123456789'],
  ])('of %s is written as %s', (hash, short) => {
    expect(shortHash(hash)).toBe(short);
  });

  test('can be written longer', () => {
    expect(shortHash('a7f2c1b8', 7)).toBe('a7f2c1b');
    expect(shortHash('1234567a', 6)).toBe('1234567a');
  });

  test.each<[string, boolean]>([
    [BASE.hash, true],
    [BASE.hash.slice(0, 6), true],
    [BASE.hash.slice(0, 6).toUpperCase(), true],
    [BASE.hash.slice(0, 5), false],
    ['', false],
    [`${BASE.hash.slice(0, 6)}g`, false],
    [`${BASE.hash}0`, false],
    ['000000', false],
    [`${BASE.hash.slice(0, 6)}\n`, false],
  ])('is matched by %j: %s', (text, matches) => {
    expect(matchesHash(BASE, text)).toBe(matches);
  });
});

describe('registering a schema', () => {
  test('gives a new registry of the next version, and leaves the old one', () => {
    const registry = registerSchema(BASE, 'sales_report', REPORT);
    expect([BASE.version, registry.version]).toEqual([1, 2]);
    expect([BASE.byCode('SR'), registry.byCode('SR')]).toEqual([undefined, REPORT]);
    expect(registry.hash).not.toBe(BASE.hash);
  });

  test('again changes nothing', () => {
    const registry = registerSchema(BASE, 'sales_report', REPORT);
    expect(registerSchema(registry, 'sales_report', JSON.parse(JSON.stringify(REPORT)))).toBe(registry);
  });

  test('with a known name needs a higher version', () => {
    const registry = registerSchema(BASE, 'sales_report', { ...REPORT, version: 2 });
    for (const version of [1, 2]) {
      const again = { ...REPORT, version, fields: [...REPORT.fields, 'more'] };
      expect(refusal(() => registerSchema(registry, 'sales_report', again))).toEqual([
        'E1004',
        'schemas.sales_report.version',
      ]);
    }
    const newer = registerSchema(registry, 'sales_report', { ...REPORT, version: 3, code: 'S3' });
    expect([newer.version, newer.byCode('S3')?.version, newer.byCode('SR')]).toEqual([3, 3, undefined]);
  });

  test.each([
    ['TC', 'a profile'],
    ['SR', 'another schema'],
  ])('with the code %s of %s is rejected', (code) => {
    const registry = registerSchema(BASE, 'sales_report', REPORT);
    expect(refusal(() => registerSchema(registry, 'other', { ...REPORT, code }))).toEqual([
      'E1004',
      'schemas.other.code',
    ]);
    const schemas = { sales_report: REPORT, other: { ...REPORT, code } };
    expect(refusal(() => createRegistry({ schemas }))).toEqual(['E1004', 'schemas.other.code']);
  });

  test('with an error is rejected with its path', () => {
    expect(refusal(() => registerSchema(BASE, 'x', { ...REPORT, fields: ['a', ''] }))).toEqual([
      'E1004',
      'schemas.x.fields[1]',
    ]);
  });

  test('brings its operations', () => {
    const registry = registerSchema(BASE, 'x', { ...REPORT, operations: ['report', 'plan'] });
    expect(registry.operations).toEqual([...BASE.operations, 'report']);
    expect(registry.customOperations).toEqual([]);
  });

  test('works for names of object properties', () => {
    const registry = registerSchema(registerSchema(BASE, '__proto__', REPORT), 'constructor', { ...REPORT, code: 'C' });
    expect([Object.keys(registry.schemas).includes('__proto__'), registry.byCode('SR')]).toEqual([true, REPORT]);
    expect(reread(registry).hash).toBe(registry.hash);
    expect(reread(registry).byCode('C')).toEqual({ ...REPORT, code: 'C' });
  });
});

describe('a newer schema of a profile', () => {
  const { code, fields, defaults } = BASE.byCode('TX')!;
  const newer = { code, version: 2, fields: [...fields, 'fee'], defaults: { ...defaults, fee: 0 } };

  test('can have more fields, and keeps the types of the profile', () => {
    const registry = registerSchema(BASE, 'transaction', { ...newer, types: { fee: 'decimal' } });
    expect(registry.byCode('TX')?.types).toEqual({ ...BASE.byCode('TX')?.types, fee: 'decimal' });
    expect(reread(registry).hash).toBe(registry.hash);
  });

  test.each([
    ['another code', { code: 'TY' }, 'code'],
    ['a field less', { fields: fields.slice(1) }, 'fields'],
    ['another type', { types: { transaction_id: 'integer' } }, 'types.transaction_id'],
    ['the same version', { version: 1 }, 'version'],
  ])('is rejected with %s', (_, change, place) => {
    const definition = { ...newer, defaults: {}, ...change };
    expect(refusal(() => registerSchema(BASE, 'transaction', definition))).toEqual([
      'E1004',
      `schemas.transaction.${place}`,
    ]);
  });
});

describe('registering an operation', () => {
  test('adds it, once', () => {
    const registry = registerOperation(registerOperation(BASE, 'rollback'), 'deploy');
    expect([registry.version, registry.customOperations]).toEqual([3, ['deploy', 'rollback']]);
    expect(registerOperation(registry, 'deploy')).toBe(registry);
    expect(registerOperation(registry, 'plan')).toBe(registry);
    expect(reread(registry)).toMatchObject({
      version: 3,
      hash: registry.hash,
      customOperations: ['deploy', 'rollback'],
    });
  });

  test.each(['', 'a b', 'a-b', '42', 'true', 7])('rejects %j', (operation) => {
    expect(refusal(() => registerOperation(BASE, operation as string))?.[0]).toBe('E1004');
    const json = { schemas: {}, operations: ['fine', operation] } as RegistryJson;
    expect(refusal(() => createRegistry(json))).toEqual(['E1004', 'operations[1]']);
  });
});

describe('a registry from JSON', () => {
  test('keeps its version, unless it is too low for the registrations', () => {
    expect(createRegistry({ version: 7, ...DRAFT }).version).toBe(7);
    expect(createRegistry({ version: 1, ...DRAFT, operations: ['deploy'] }).version).toBe(3);
    expect(reread(createRegistry({ version: 7, ...DRAFT })).version).toBe(7);
  });

  test('may have an older schema of a profile, which is completed and does not count as a registration', () => {
    const older = { ...DRAFT.schemas['task_assignment']!, version: 1 };
    expect(createRegistry({ schemas: { task_assignment: older } }).byCode('TA')?.version).toBe(1);
  });

  test.each<[string, unknown, string | undefined]>([
    ['nothing', null, undefined],
    ['an array', [], undefined],
    ['no schemas', {}, 'schemas'],
    ['schemas in a list', { schemas: [REPORT] }, 'schemas'],
    ['a bad version', { schemas: {}, version: 0 }, 'version'],
    ['an unknown member', { schemas: {}, scheams: {} }, undefined],
    ['a faulty schema', { schemas: { a: { ...REPORT, version: '1' } } }, 'schemas.a.version'],
    ['operations that are no list', { schemas: {}, operations: 'deploy' }, 'operations'],
  ])('is rejected: %s', (_, json, path) => {
    expect(refusal(() => createRegistry(json as RegistryJson))).toEqual(['E1004', path]);
  });

  test('of many schemas is read in linear time', () => {
    const schemas = Object.fromEntries(
      Array.from({ length: 2_000 }, (_, at) => [`s${at}`, { ...REPORT, code: `S${at}` }]),
    );
    const registry = createRegistry({ schemas });
    expect([registry.version, registry.byCode('S1999')?.version]).toEqual([2_001, 1]);
  });
});
