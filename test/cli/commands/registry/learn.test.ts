/** `pegwire registry learn`: the registry, the report, and the generated types. */
import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import fc from 'fast-check';
import ts from 'typescript';
import { describe, expect, test } from 'vitest';
import corpus from '../../../../bench/corpus/messages.json' with { type: 'json' };
import { createRegistry, type RegistryJson } from '../../../../src/accp/compact/index.js';
import { cli, jsonLines, scratchFolder } from '../../../helpers/cli.js';
import { runs } from '../../../helpers/runs.js';

const scratch = scratchFolder();
const messages = corpus.map(({ message }) => message);
const file = scratch.write('corpus.jsonl', messages.map((message) => `${JSON.stringify(message)}\n`).join(''));
const req = (payload: object, more: object = {}): object => ({
  agent: 'a',
  intent: 'req',
  operation: 'find',
  payload,
  ...more,
});
const text = (...all: readonly object[]): string => all.map((one) => `${JSON.stringify(one)}\n`).join('');

interface Row {
  readonly kind?: string;
  readonly messages: number;
  readonly json: number;
  readonly toon: number;
  readonly frames: number;
  readonly compact: number;
  readonly withRegistry: number;
}

interface Report {
  readonly total: Row;
  readonly learnedFrom: number;
  readonly rejected: number;
}

describe('pegwire registry learn', () => {
  test('shows the tokens of each kind of message that was not learned from', async () => {
    const { code, stdout, stderr } = await cli(['registry', 'learn', file]);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^kind +messages +JSON +TOON +frames +compact +with registry +to JSON +to TOON\n/);
    expect(stdout).toMatch(/^(?:req|done|sync|fail):\w+ +\d+ +\d+ +\d+ +\d+ +\d+ +\d+ +-\d+ % +-\d+ %$/m);
    expect(stdout).toMatch(/^total +19 /m);
    expect(stderr).toMatch(/^Learned from 20 messages, seed 1: \d+ shapes, \d+ strings?, \d+ agents?\. /);
    expect(stderr).toContain('The table has the tokens of the other 19.\nCounted in o200k_base.\n');
    // Equal seeds give equal reports.
    expect(await cli(['registry', 'learn', file])).toEqual({ code, stdout, stderr });
    expect((await cli(['registry', 'learn', file, '--seed', '2'])).stdout).not.toBe(stdout);
  });

  test('prints JSON', async () => {
    const { code, stdout } = await cli(['registry', 'learn', file, '--json', '--share', '0.9']);
    expect(code).toBe(0);
    const all = jsonLines(stdout);
    const rows = all.slice(0, -1) as Row[];
    const report = all.at(-1) as Report;
    expect(report).toMatchObject({
      lines: 39,
      rejected: 0,
      learnedFrom: 35,
      seed: 1,
      encoding: 'o200k_base',
      exact: true,
    });
    for (const form of ['messages', 'json', 'toon', 'frames', 'compact', 'withRegistry'] as const)
      expect(rows.reduce((sum, row) => sum + row[form], 0)).toBe(report.total[form]);
    expect(report.total.messages).toBe(4);
  });

  test('measures all messages with --share 1, and writes the registry', async () => {
    const out = path.join(scratch.path, 'registry.json');
    const { code, stdout, stderr } = await cli(['registry', 'learn', file, '--share', '1', '--out', out, '--json']);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    const { total } = jsonLines(stdout).at(-1) as Report;
    expect(total.messages).toBe(39);
    expect(total.withRegistry / total.json).toBeLessThan(0.6);
    expect(total.withRegistry / total.toon).toBeLessThan(0.62);
    expect(total.withRegistry).toBeLessThan(total.compact);
    expect(total.compact).toBeLessThan(total.frames);
    const registry = createRegistry(JSON.parse(readFileSync(out, 'utf8')) as RegistryJson);
    expect(registry.compact!.shapes!.length).toBeGreaterThan(30);
  });

  test('reads frames, without their metadata, and messages without an agent', async () => {
    const stdin =
      "@a>req:find{asgn:x|q:'twoWords|schema:TA}[mid:m1,seq:1]\n" +
      '@a>req:find{q:cats|ref:$warm.x}\n"hello"\n{"intent":"req","operation":"find"}\n';
    const { code, stdout } = await cli(['registry', 'learn', '--share', '1', '--json'], { stdin });
    expect(code).toBe(0);
    expect(jsonLines(stdout)).toMatchObject([{ kind: 'req:find', messages: 3 }, { kind: 'done:chat' }, {}]);
  });

  test('reports invalid lines with their number and code, and learns from the others', async () => {
    const bad = [
      '{"a',
      '@x>req:5{a:1}',
      '@x>req:find{a:1',
      '@7>req:find{a:1}',
      '{"intent":"req"}',
      `@x>req:find{a:'b=}`,
    ];
    const stdin = [text(req({ q: 1 })), ...bad.map((line) => `${line}\n`), text(req({ q: 2 }))].join('');
    const { code, stdout } = await cli(['registry', 'learn', '--json'], { stdin });
    expect(code).toBe(1);
    expect(jsonLines(stdout)).toMatchObject([
      ...['not-json', 'E1004', 'E1001', 'E1004', 'E1004', 'E1004'].map((error, at) => ({
        line: at + 2,
        ok: false,
        error: { code: error },
      })),
      { kind: 'req:find', messages: 1 },
      { total: { messages: 1 }, lines: 8, rejected: 6, learnedFrom: 1 },
    ]);
    const shown = await cli(['registry', 'learn'], { stdin });
    expect(shown.stderr).toContain('error[not-json]: The line is not JSON');
    expect(shown.stderr).toContain(' --> stdin:2:');
  });

  test('leaves no files if it fails', async () => {
    const [out, types] = [path.join(scratch.path, 'none.json'), path.join(scratch.path, 'none.ts')];
    const { code } = await cli(['registry', 'learn', '--out', out, '--types', types], { stdin: '' });
    expect([code, existsSync(out), existsSync(types)]).toEqual([1, false, false]);
  });

  test('reports an empty input, and one without a valid line', async () => {
    expect(await cli(['registry', 'learn'])).toMatchObject({ code: 1, stdout: '' });
    expect(await cli(['registry', 'learn'], { stdin: '{}\n' })).toMatchObject({ code: 1, stdout: '' });
  });

  test.each([
    [['--share', '0'], '--share must be a number greater than 0 and at most 1; got "0"'],
    [['--share', '1.5'], '--share must be a number greater than 0 and at most 1; got "1.5"'],
    [['--seed', 'x'], '--seed must be an integer from 0 to 4294967295; got "x"'],
    [['--ot', 'x'], 'Unknown option --ot'],
  ])('rejects %j', async (args, message) => {
    const { code, stdout, stderr } = await cli(['registry', 'learn', file, ...args]);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toContain(message);
  });
});

interface Schema {
  safeParse(value: unknown): { readonly success: boolean };
}

/** Returns the types that are generated from a sample. */
async function generated(sample: readonly object[]): Promise<string> {
  const types = path.join(scratch.path, 'types.ts');
  const { stderr } = await cli(['registry', 'learn', '--share', '1', '--types', types, '--json'], {
    stdin: text(...sample),
  });
  expect(stderr).toBe('');
  return readFileSync(types, 'utf8');
}

const STRICT: ts.CompilerOptions = {
  ...{ strict: true, exactOptionalPropertyTypes: true, noUncheckedIndexedAccess: true, noUnusedLocals: true },
  ...{ noEmit: true, skipLibCheck: true, types: [], target: ts.ScriptTarget.ES2022 },
  ...{ module: ts.ModuleKind.ESNext, moduleResolution: ts.ModuleResolutionKind.Bundler },
};

/** Returns the numbers of the sources with an error, once for each error of a strict compilation. */
function faulty(...sources: readonly string[]): readonly number[] {
  const names = sources.map((_, at) => path.resolve(`generated-types-${at}.ts`));
  const host = ts.createCompilerHost(STRICT);
  const { getSourceFile, fileExists } = host;
  host.fileExists = (name) => names.includes(name) || fileExists(name);
  host.getSourceFile = (name, version) => {
    const at = names.indexOf(name);
    return at < 0 ? getSourceFile(name, version) : ts.createSourceFile(name, sources[at]!, version);
  };
  return ts
    .getPreEmitDiagnostics(ts.createProgram(names, STRICT, host))
    .map((diagnostic) => names.indexOf(path.resolve(diagnostic.file?.fileName ?? '')));
}

/** Runs a generated module. */
function schemasOf(source: string): Readonly<Record<string, Schema>> {
  const compilerOptions = { module: ts.ModuleKind.CommonJS, target: ts.ScriptTarget.ES2022 };
  const { outputText } = ts.transpileModule(source, { compilerOptions });
  const exports: Record<string, Schema> = {};
  new Function('require', 'exports', outputText)(createRequire(import.meta.url), exports);
  return exports;
}

describe('the types', () => {
  test('have required and optional keys, enumerations, numbers, lists, objects and null', async () => {
    const payload = {
      region: 'north',
      status: 'open',
      count: 1,
      ratio: 0.5,
      tags: ['x'],
      owner: { name: 'y' },
      note: null,
    };
    const source = await generated([
      req(payload),
      req({ ...payload, region: 'south', ratio: 2, note: 'z', tags: [], extra: true }),
      req({ ...payload, region: 'south', count: 2 }),
      req({ ...payload, region: 'north', owner: { name: 'y', since: 2026 } }),
    ]);
    expect(source).toBe(`/** Message types, generated from a sample by \`pegwire registry learn\`. */
import * as z from 'zod';

export const reqFindSchema = z.object({
  agent: z.string(),
  intent: z.literal('req'),
  operation: z.literal('find'),
  schema: z.optional(z.undefined()),
  payload: z.object({
    region: z.enum(['north', 'south']),
    status: z.string(),
    count: z.int(),
    ratio: z.number(),
    tags: z.array(z.string()),
    owner: z.object({
      name: z.string(),
      since: z.optional(z.int()),
    }),
    note: z.nullable(z.string()),
    extra: z.optional(z.boolean()),
  }),
});

export type ReqFind = z.infer<typeof reqFindSchema>;

export const messageSchema = reqFindSchema;

export type Message = z.infer<typeof messageSchema>;
`);
  });

  test('accept all messages of the sample, and narrow by operation, intent and schema', async () => {
    const source = await generated(messages);
    const { messageSchema, reqScheduleTASchema } = schemasOf(source);
    for (const message of messages) expect(messageSchema!.safeParse(message).success).toBe(true);
    expect(reqScheduleTASchema!.safeParse(messages[0]).success).toBe(true);
    expect(messageSchema!.safeParse({ ...messages[0], operation: 'unknown' }).success).toBe(false);
    expect(messageSchema!.safeParse({ ...messages[0], payload: {} }).success).toBe(false);
    const use = `${source}
export function deadline(message: Message): string | undefined {
  if (message.operation !== 'schedule' || message.intent !== 'req') return undefined;
  return message.payload.deadline;
}
`;
    expect(faulty(source, use, use.replace('payload.deadline', 'payload.dedline'))).toEqual([2]);
  });

  test.each([
    ['a value that occurs once', ['north', 'north', 'south', 'south', 'east']],
    ['one value', ['north', 'north']],
    ['nine values', [...'abcdefghi', ...'abcdefghi']],
    ['identifiers', ['order_55120', 'order_55120', 'order_55121', 'order_55121']],
  ])('have no enumeration for %s', async (_, values) => {
    expect(await generated(values.map((region) => req({ region })))).toContain('    region: z.string(),\n');
  });

  test('have no enumeration of secrets', async () => {
    const values = ['correct horse', 'correct horse', 'battery staple', 'battery staple'];
    const source = await generated(values.map((secret) => req({ password: secret, hint: secret })));
    expect(source).toContain('    password: z.string(),\n');
    expect(source).toContain("    hint: z.enum(['battery staple', 'correct horse']),\n");
  });

  test('have a name of their own for each message type', async () => {
    const operations = ['a_b', 'aB', 'ab', 'class', '_', '__proto__', 'x'.repeat(200), `${'x'.repeat(200)}y`];
    const sample = operations.flatMap((operation) => [
      req({}, { operation }),
      req({}, { operation, schema: 'TA', payload: { task: 'x', assignee: 'y' } }),
      req({}, { operation, intent: 'done' }),
    ]);
    const source = await generated(sample);
    expect(faulty(source)).toEqual([]);
    const { messageSchema } = schemasOf(source);
    for (const one of sample) expect(messageSchema!.safeParse(one).success).toBe(true);
  });

  test('compile and accept the sample, whatever its keys and strings are', async () => {
    const hostile = [
      "it's",
      'say "hi"',
      '*/',
      '`$' + '{x}`',
      '</script>',
      '\u2028',
      '\ud800',
      'a\\',
      'line\nend',
      '日本',
      '',
      '0',
    ];
    const key = fc.constantFrom(
      '__proto__',
      'constructor',
      'toString',
      'class',
      'a b',
      'x'.repeat(80),
      'b',
      ...hostile,
    );
    const leaf = fc.oneof(
      fc.constantFrom(...hostile, 'open', 'closed'),
      fc.constantFrom<unknown>(1, 0.5, 1e15, true, null, []),
    );
    const { map } = fc.letrec((tie) => ({
      map: fc.dictionary(key, tie('value'), { maxKeys: 5 }),
      value: fc.oneof({ maxDepth: 3 }, leaf, leaf, tie('map'), fc.array(tie('value'), { maxLength: 3 })),
    }));
    const message = fc.record(
      {
        agent: fc.constant('a'),
        intent: fc.constantFrom('req', 'done'),
        operation: fc.constantFrom('a_b', 'aB', 'class'),
        schema: fc.constantFrom('ZZ', 'INC'),
        payload: map,
      },
      { requiredKeys: ['intent', 'operation'] },
    );
    const sources: string[] = [];
    await fc.assert(
      fc.asyncProperty(fc.array(message, { minLength: 1, maxLength: 12 }), async (sample) => {
        const source = await generated(sample);
        const { messageSchema } = schemasOf(source);
        for (const one of sample) expect(messageSchema!.safeParse(JSON.parse(JSON.stringify(one))).success).toBe(true);
        // Nothing but visible ASCII, so that no string ends a literal.
        expect(source).toMatch(/^[\n -~]*$/);
        sources.push(source);
      }),
      runs(45),
    );
    expect(faulty(...sources)).toEqual([]);
  });
});
