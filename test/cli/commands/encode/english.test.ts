import { createHash } from 'node:crypto';
import { existsSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { validatePacket } from '../../../../src/aacp/index.js';
import type { Ended } from '../../../helpers/child.js';
import { cli, jsonLines, lines, program, scratchFolder } from '../../../helpers/cli.js';
import { chatServer } from './chat-server.js';

const scratch = scratchFolder();
const chat = chatServer();
const data = path.join(scratch.path, 'data');

const NOVEL = 'Bake a chocolate cake for the birthday of the director';
const NOVEL_PACKET = 'BUILD|HR|return:HR-Agent|p:2|aacp:1.1|res:birthday_cake';
const KNOWN = 'Retrieve the employee salary records for August 2024';
const KNOWN_PACKET =
  'FETCH|HR|return:HR-Agent|p:2|aacp:1.1|res:emp_salary|period:2024-08|filter:status=active|fmt:json';

beforeEach(() => {
  vi.stubEnv('PEGWIRE_DATA_DIR', data);
  chat.requests.length = 0;
  chat.reply = NOVEL_PACKET;
});
afterEach(() => vi.unstubAllEnvs());

function encode(instruction: string, ...args: readonly string[]): Promise<Ended> {
  return cli(['encode', 'aacp', '--english', instruction, '--domain', 'HR', ...args]);
}

let files = 0;

/** Returns the path of a new registry. */
function registryFile(): string {
  return path.join(scratch.path, `registry-${files++}.db`);
}

describe('an instruction that a rule covers', () => {
  test('is free', async () => {
    const { code, stdout, stderr } = await encode(KNOWN, '--registry', 'memory');
    expect({ code, stdout }).toEqual({ code: 0, stdout: `${KNOWN_PACKET}\n` });
    expect(stderr).toMatch(/^pattern, free: .+\n$/);
  });

  test('keeps its own values, agent and priority', async () => {
    const args = ['--registry', 'none', '--return-agent', 'Payroll', '--priority', '1'];
    const { stdout } = await encode(KNOWN.replace('August', 'May'), ...args);
    expect(stdout).toMatch(/\|return:Payroll\|p:1\|.*\|period:2024-05\|/);
  });

  test('relative dates refer to --now', async () => {
    const now = '2026-01-15T00:00:00Z';
    const { stdout } = await encode(KNOWN.replace('August 2024', 'last month'), '--registry', 'none', '--now', now);
    expect(stdout).toContain('|period:2025-12|');
  });

  test('is new without the rules, or with a threshold that it does not reach', async () => {
    expect((await encode(KNOWN, '--registry', 'none', '--no-bundled-rules')).stderr).toContain('error[no-model]');
    const near = KNOWN.replace('the ', '');
    expect((await encode(near, '--registry', 'none')).code).toBe(0);
    expect((await encode(near, '--registry', 'none', '--threshold', '1')).stderr).toContain('error[no-model]');
  });
});

describe('a new instruction', () => {
  test('without a model is an error that names --model', async () => {
    const { code, stdout, stderr } = await encode(NOVEL, '--registry', 'none');
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toMatch(/^error\[no-model\]: .*\nhelp: set --model to anthropic:NAME, openai:NAME or URL#/);
    const inJson = await encode(NOVEL, '--registry', 'none', '--json');
    expect(inJson).toMatchObject({ code: 1, stderr: '' });
    expect(jsonLines(inJson.stdout)).toMatchObject([{ ok: false, error: { code: 'no-model', cost: 0 } }]);
  });

  test('is sent to the model once, and its cost is reported', async () => {
    const model = ['--registry', registryFile(), '--model', chat.model('baker'), '--price', '3,15'];
    const first = await encode(NOVEL, ...model);
    expect(first).toMatchObject({ code: 0, stdout: `${NOVEL_PACKET}\n` });
    expect(first.stderr).toMatch(
      /^model, \$0\.00045 \(1 call, 100 input and 10 output tokens\): The model was called: /,
    );
    expect(chat.requests.map(({ body }) => body.model)).toEqual(['baker']);
    expect(JSON.stringify(chat.requests[0]!.body.messages)).toContain(NOVEL);

    const second = await encode(`  ${NOVEL.toUpperCase()}`, ...model);
    expect(second).toMatchObject({ code: 0, stdout: first.stdout });
    expect(second.stderr).toMatch(/^cache, free: /);
    expect(chat.requests).toHaveLength(1);
  });

  test('with --json is reported in full', async () => {
    const { code, stdout, stderr } = await encode(
      NOVEL,
      '--registry',
      'none',
      '--model',
      chat.model('baker'),
      '--json',
    );
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(jsonLines(stdout)).toEqual([
      {
        ok: true,
        packet: NOVEL_PACKET,
        task: 'BUILD',
        domain: 'HR',
        tier: 'model',
        // The price is unknown.
        cost: null,
        usage: { calls: 1, inputTokens: 100, outputTokens: 10 },
        tokens: { english: expect.any(Number), packet: expect.any(Number), exact: true, encoding: 'o200k_base' },
        warnings: [],
        explain: {
          tier: 'model',
          text: expect.stringContaining('The model was called'),
          key: expect.stringMatching(/^[0-9a-f]{64}$/),
          match: null,
          candidates: expect.any(Array),
          adjustments: [],
        },
      },
    ]);
  });

  test('that the model does not turn into a packet is reported with the reply', async () => {
    chat.reply = 'I would rather bake.';
    const args = ['--registry', 'none', '--model', chat.model('baker'), '--price', '3,15'];
    const { code, stdout, stderr } = await encode(NOVEL, ...args);
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toContain('error[invalid-reply]: ');
    expect(stderr.match(/reply of the model: I would rather bake\./g)).toHaveLength(2);
    const inJson = await encode(NOVEL, ...args, '--json');
    expect(jsonLines(inJson.stdout)).toMatchObject([
      { ok: false, error: { code: 'invalid-reply', usage: { calls: 2 } }, replies: [chat.reply, chat.reply] },
    ]);
  });

  test('is reported if the model cannot be called', async () => {
    chat.reply = 401;
    const { code, stdout, stderr } = await encode(NOVEL, '--registry', 'none', '--model', chat.model('baker'));
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toContain('error[model-unauthorised]: ');
    expect(stderr).toContain('help: set the key in ANTHROPIC_API_KEY or ');
  });

  test.each(['anthropic:x', 'openai:x'])('requires a key in the environment for %s', async (model) => {
    for (const name of ['ANTHROPIC_API_KEY', 'ANTHROPIC_AUTH_TOKEN', 'OPENAI_API_KEY']) vi.stubEnv(name, undefined);
    // No request is made, whatever the SDKs find in the environment.
    for (const name of ['ANTHROPIC_BASE_URL', 'OPENAI_BASE_URL']) vi.stubEnv(name, 'http://127.0.0.1:9');
    const { code, stderr } = await encode(NOVEL, '--registry', 'none', '--model', model);
    expect(code).toBe(1);
    expect(stderr).toContain('error[model-unauthorised]: ');
  });

  test('sends a key to a server only if its variable is named', async () => {
    vi.stubEnv('OPENAI_API_KEY', 'sk-secret');
    vi.stubEnv('BAKERY_KEY', 'flour');
    const args = ['--registry', 'none', '--model', chat.model('baker')];
    await encode(NOVEL, ...args);
    await encode(NOVEL, ...args, '--key-variable', 'BAKERY_KEY');
    expect(JSON.stringify(chat.requests[0])).not.toContain('sk-secret');
    expect(chat.requests[1]!.headers.authorization).toBe('Bearer flour');
  });
});

describe('instructions, one per line', () => {
  const stdin = lines(KNOWN, '', NOVEL, NOVEL, '?');

  test('are read from stdin with --domain, or --english without a text', async () => {
    for (const way of [
      ['--domain', 'HR'],
      ['--english', '--domain', 'HR'],
      // As with a file.
      ['--english', '-', '--domain', 'HR'],
      ['--english=-', '-', '--domain', 'HR'],
    ]) {
      const args = [
        'encode',
        'aacp',
        ...way,
        '--registry',
        'memory',
        '--model',
        chat.model('baker'),
        '--price',
        '3,15',
      ];
      const { code, stdout, stderr } = await cli(args, { stdin: lines(KNOWN, '', NOVEL, NOVEL) });
      expect({ code, stdout }).toEqual({ code: 0, stdout: lines(KNOWN_PACKET, NOVEL_PACKET, NOVEL_PACKET) });
      expect(stderr).toContain('stdin:1: pattern, free: ');
      expect(stderr).toContain('stdin:3: model, $0.00045 ');
      expect(stderr).toContain('stdin:4: cache, free: ');
      expect(stderr).toMatch(
        /\n3 instructions: 1 from the registry, 1 from patterns, 1 from the model, 0 not encoded; \$0\.00045\n$/,
      );
    }
    expect(chat.requests).toHaveLength(4);
  });

  test('are read from a file; an error does not stop the others', async () => {
    const file = scratch.write('instructions.txt', stdin);
    const { code, stdout } = await cli(['encode', 'aacp', file, '--domain', 'HR', '--registry', 'none', '--json']);
    expect(code).toBe(1);
    expect(jsonLines(stdout)).toMatchObject([
      { line: 1, ok: true, tier: 'pattern' },
      { line: 3, ok: false },
      { line: 4, ok: false },
      { line: 5, ok: false },
    ]);
  });

  test('must not be missing', async () => {
    expect(await cli(['encode', 'aacp', '--domain', 'HR', '--registry', 'none'])).toEqual({
      code: 1,
      stdout: '',
      stderr: 'error[empty]: The input is empty; expected at least one instruction.\n',
    });
  });
});

describe('--rules', () => {
  const RULE = {
    id: 'hr-bake-cake',
    name: 'Bake a cake',
    description: 'Bakes a cake for somebody.',
    task: 'BUILD',
    dom: 'HR',
    packet: NOVEL_PACKET,
    tags: ['cake'],
    version: '1.0.0',
    source: 'test',
    phrases: ['bake a chocolate cake for the birthday of the director'],
  };
  const text = JSON.stringify([RULE, { ...RULE, id: 'broken', packet: 'no packet' }]);
  const file = scratch.write('rules.json', text);
  const sha256 = createHash('sha256').update(text).digest('hex');

  test('serve in addition to the built-in rules, and invalid rules are reported', async () => {
    for (const instruction of [NOVEL, KNOWN]) {
      const { code, stderr } = await encode(instruction, '--registry', 'none', '--rules', file);
      expect(code).toBe(0);
      expect(stderr).toContain('1 rule with errors skipped; run "pegwire aacp rules check" for details');
      expect(stderr).toContain('pattern, free: ');
    }
  });

  test('can be pinned', async () => {
    const pinned = ['--registry', 'none', '--rules', file, '--rules-sha256'];
    expect((await encode(NOVEL, ...pinned, sha256)).code).toBe(0);
    const { code, stdout, stderr } = await encode(NOVEL, ...pinned, '0'.repeat(64));
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toContain(sha256);
  });
});

describe('--explain', () => {
  test('calls no model, counts nothing and creates no file', async () => {
    const registry = path.join(data, 'registry.db');
    const { code, stdout, stderr } = await encode(NOVEL, '--explain', '--model', chat.model('baker'));
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toMatch(/^requires a call of the model: /);
    expect(chat.requests).toEqual([]);
    expect(existsSync(registry)).toBe(false);
  });

  test('reports that a model is required', async () => {
    expect((await encode(NOVEL, '--explain')).stdout).toMatch(/^requires a model: /);
  });

  test('shows the matching pattern and the rejected ones, with the reasons', async () => {
    const { stdout } = await encode(KNOWN, '--explain');
    const [head, first, reason] = stdout.split('\n');
    expect(head).toMatch(/^from a pattern: /);
    expect(first).toMatch(/^ {2}[01]\.\d\d rule hr-fetch-employee-salaries "/);
    expect(reason).toMatch(/^ {7}matches: /);
    expect(stdout).toMatch(/\n {7}rejected \([a-z-]+\): /);
    expect(stdout).toMatch(/\n {7}slots: period "August 2024"\n/);
  });

  test('names registry entries', async () => {
    const registry = ['--registry', registryFile()];
    await encode(NOVEL, ...registry, '--model', chat.model('baker'));
    expect((await encode(NOVEL, ...registry, '--explain')).stdout).toMatch(/^from the registry: /);
  });

  test('--json has patterns by name', async () => {
    const { stdout } = await encode(KNOWN, '--explain', '--json');
    expect(jsonLines(stdout)).toMatchObject([
      {
        ok: true,
        explain: {
          tier: 'pattern',
          match: { source: { kind: 'rule', id: 'hr-fetch-employee-salaries' }, refusal: null },
          candidates: expect.arrayContaining([expect.objectContaining({ refusal: expect.any(String) })]),
        },
      },
    ]);
    expect(stdout).not.toContain('"tags"');
  });
});

describe('incorrect usage', () => {
  const url = 'http://user:password@127.0.0.1:1/v1';
  test.each([
    [['--domain', 'H R'], /^domain: "H R" is not a word of letters/],
    [['--return-agent', 'a|b'], /"\|"/],
    [['--priority', '4'], /^--priority must be 1, 2 or 3; got "4"/],
    [['--threshold', '0'], /^--threshold must be a number greater than 0 and at most 1/],
    [['--now', 'today'], /^--now must be an ISO 8601 time/],
    [['--model', 'claude'], /^--model must be anthropic:NAME, openai:NAME or URL#NAME, .*; got "claude"/],
    [['--model', 'antropic:x'], /did you mean "anthropic"\?/],
    [['--model', 'ftp://127.0.0.1/v1#x'], /^--model must be /],
    [['--model', url], /got "http:\/\/127\.0\.0\.1:1\/v1"/],
    [['--model', `${url}#x`, '--price', '3'], /^--price must be the prices of input and output tokens/],
    [['--model', `${url}#x`, '--price', '3,1.5.2'], /^--price must be the prices of input and output tokens/],
    [
      ['--model', `${url}#x`, '--key-variable', 'NO_SUCH_KEY'],
      /^--key-variable must name an environment variable that is set; got "NO_SUCH_KEY/,
    ],
    [['--price', '3,15'], /^--price requires --model/],
    [['--rules-sha256', '0'], /^--rules-sha256 requires --rules/],
    [['--rules', 'package.json', '--rules-sha256', '0'], /^--rules-sha256 must be 64 hexadecimal digits/],
    [['--rules', 'no-such-file.json'], /^Cannot read no-such-file\.json: there is no such file\.\n$/],
    [['--rules', 'src'], /^Cannot read src: it is a folder\.\n$/],
    [['--registry', 'src'], /\/src cannot be opened: it is a folder\.\n$/],
    [['--registry', 'package.json'], /package\.json/],
    [['--english', '-', 'input.txt'], /^--english reads stdin; remove the file "input\.txt"/],
    [['input.txt'], /^--english has an instruction; remove the file "input\.txt"/],
  ] as const)('%j', async (args, expected) => {
    const { code, stdout, stderr } = await encode(KNOWN, '--registry', 'none', ...args);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr.replace(/^error\[[\w-]+\]: /, '')).toMatch(expected);
  });

  test('a domain is required', async () => {
    const { code, stderr } = await cli(['encode', 'aacp', '--english', KNOWN]);
    expect(code).toBe(2);
    expect(stderr).toContain('--english requires --domain, for example --domain HR.');
  });
});

test('as a program, it stores packets in the data folder and prints only packets to stdout', async () => {
  const folder = path.join(scratch.path, 'fresh');
  const args = ['encode', 'aacp', '--domain', 'HR', '--model', chat.model('baker')];
  const env = { PEGWIRE_DATA_DIR: folder };
  const { code, stdout } = await program(args, { stdin: lines(KNOWN, NOVEL), env });
  expect({ code, stdout }).toEqual({ code: 0, stdout: lines(KNOWN_PACKET, NOVEL_PACKET) });
  expect(readdirSync(folder)).toContain('registry.db');
  expect(
    stdout
      .split('\n')
      .slice(0, -1)
      .every((packet) => validatePacket(packet).valid),
  ).toBe(true);

  vi.stubEnv('PEGWIRE_DATA_DIR', folder);
  const again = await cli(['encode', 'aacp', '--domain', 'HR'], { stdin: lines(NOVEL) });
  expect(again).toMatchObject({ code: 0, stdout: lines(NOVEL_PACKET) });
  expect(chat.requests).toHaveLength(1);
});
