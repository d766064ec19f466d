/** Errors show the place on separate lines, and help names what exists in the library or the command. */
import { describe, expect, test } from 'vitest';
import { createCodec } from '../../../src/accp/codec/codec.js';
import { createSession } from '../../../src/accp/session/session.js';
import { tryParseFrame, tryParsePacket } from '../../../src/index.js';
import { cli, jsonLines, lines, scratchFolder } from '../../helpers/cli.js';

const scratch = scratchFolder();

describe('a grammar file that Peggy rejects', () => {
  const GRAMMARS = [
    ['syntax', 'start =\n  [a-z\n', 2, 3],
    ['a rule that is missing', 'start = a\na = "x" b\n', 2, 9],
    ['left recursion', 'start = start "x"\n', 1, 9],
  ] as const;

  test.each(GRAMMARS)('%s is shown with the path and a caret, by each command', async (_, text, line, column) => {
    const file = scratch.write('my grammar.peggy', text);
    for (const args of [
      ['fuzz', file],
      ['export', file, '--to', 'gbnf'],
    ]) {
      const { code, stdout, stderr } = await cli(args);
      expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
      const kind = text.includes('[a-z\n') ? 'syntax' : 'invalid';
      expect(stderr.split('\n')[0]).toBe(`error[grammar-${kind}]: Invalid grammar ${file}:`);
      const source = text.split('\n')[line - 1]!;
      expect(stderr).toContain(
        `\n --> ${file}:${line}:${column}\n  |\n${line} | ${source}\n  | ${' '.repeat(column - 1)}^`,
      );
      const json = await cli([...args, '--json']);
      expect(jsonLines(json.stderr)).toEqual([
        { error: { code: `grammar-${kind}`, message: expect.stringContaining(`--> ${file}:`) } },
      ]);
    }
  });
});

test('the output of a target that failed is on separate lines', async () => {
  const { code, stderr } = await cli([
    'fuzz',
    'aacp',
    '--count',
    '5',
    '--target',
    'echo one >&2; echo two >&2; exit 3',
  ]);
  expect(code).toBe(2);
  expect(stderr).not.toContain('\u240a');
});

describe('E1004 of encode', () => {
  /** Messages, each with its invalid part in guillemets. */
  const MESSAGES = [
    '{"intent":"req","operation":"find","payload":{"query":«"two words"»}}',
    '{"intent":"req","operation":"find","payload":{"q":«"two words"»}}',
    '{"intent":"req","operation":"find","payload":{"m":{"a":{"b":["x",«""»]}}}}',
    '{"intent":"req","operation":"find","payload":{"n":[1,{"k":«"é"»}],"m":2}}',
    '{"intent":"req","operation":"find","payload":{«"bad key"»:1}}',
    '{ "payload" : { "a" : 1 } , "intent":"req","operation":«"fi nd"»}',
    '{"intent":"req","operation":"find","payload":«[1]»}',
    '{"intent":«5»,"operation":"find"}',
    '{"intent":"req","operation":"find","agent":«"a b"»}',
    '{"intent":"req","operation":"find","payload":{"x":1},"envelope":{"ttl":«-1»}}',
    '{"intent":"req","operation":"infer","schema":"TX","payload":«{"amount":1.5}»}',
    '{"intent":"req","operation":"find","payload":{"a":{"b":«"true"»}}}',
  ];
  test.each(MESSAGES)('has its caret under the value: %s', async (marked) => {
    const start = marked.indexOf('«');
    const end = marked.indexOf('»') - 1;
    const { stderr } = await cli(['encode', 'accp'], { stdin: marked.replace(/[«»]/g, '') });
    expect(stderr).toMatch(/^error\[E1004\]/);
    expect(stderr).toMatch(new RegExp(`\n --> stdin:1:${start + 1}\n`));
    const caret = /\n {2}\| ( *)(\^+)\n/.exec(stderr)!;
    expect(caret[1]).toHaveLength(start);
    expect(caret[2]).toHaveLength(end - start);
  });
});

describe('help', () => {
  const DEEP = '@a>req:x{k:[[[[[[1]]]]]]}';
  const LIMITS = [
    ['accp', 'maxDepth', '--max-depth', DEEP],
    ['accp', 'maxDigits', '--max-digits', `@a>req:x{k:${'1'.repeat(1001)}}`],
    ['accp', 'maxLength', '--max-length', `@a>req:x{k:${'a'.repeat(2 ** 20)}}`],
    ['accp', 'maxItems', '--max-items', `@a>req:x{k:[${'1,'.repeat(100_000)}1]}`],
    ['aacp', 'maxLength', '--max-length', `ACK|HR|return:A|aacp:1.1|note:${'a'.repeat(2 ** 20)}`],
    ['aacp', 'maxItems', '--max-items', `ACK|HR${'|a:1'.repeat(100_001)}`],
  ] as const;

  test.each(LIMITS)(
    'for a limit of %s names %s in the library and %s in the commands that have it',
    async (protocol, option, flag, text) => {
      const parse = protocol === 'accp' ? tryParseFrame : tryParsePacket;
      const result = parse(text);
      expect(result.ok ? undefined : result.error.help).toBe(`raise ${option} if you trust the sender`);
      expect(parse(text, { [option]: 10_000_000 }).ok).toBe(true);
      for (const command of text === DEEP ? ['parse', 'fmt', 'explain', 'check', 'find'] : ['check']) {
        const { code, stdout, stderr } = await cli([command, protocol], { stdin: text });
        // Errors are in the text of check; find finds nothing where no message begins.
        expect(code).toBe(1);
        expect(stdout + stderr).toContain(`help: raise ${flag} if you trust the sender`);
        const raised = await cli([command, protocol, flag, '10000000'], { stdin: text });
        expect(raised.stdout + raised.stderr).not.toContain('help: raise');
      }
    },
  );

  test('for a command without such an option does not name it', async () => {
    const { stderr } = await cli(['decode', 'accp'], { stdin: `${DEEP.slice(0, -1)}}[mid:m1,seq:1]` });
    expect(stderr).not.toMatch(/maxDepth|max-depth/);
  });

  test('for E1004 names announce in the library, and --text in the command, which then encodes', async () => {
    const message = { intent: 'req', operation: 'find', payload: { query: 'two words' } };
    const codec = createCodec();
    expect(() => codec.encode(message, createSession({ agent: 'a' }))).toThrow(
      expect.objectContaining({
        code: 'E1004',
        help: expect.stringMatching(/text: "transliterate".*codec\.announce\(session\)/),
      }),
    );
    const stdin = lines(JSON.stringify(message));
    const { stderr } = await cli(['encode', 'accp'], { stdin });
    expect(stderr).toContain('help: use --text transliterate');
    expect(stderr).not.toMatch(/announce\(|text: /);
    const [refused] = jsonLines((await cli(['encode', 'accp', '--json'], { stdin })).stdout);
    expect(refused).toMatchObject({ error: { help: expect.stringContaining('--text transliterate') } });
    expect((await cli(['encode', 'accp', '--text', 'transliterate'], { stdin })).code).toBe(0);
  });
});
