import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { SaxesParser } from 'saxes';
import { describe, expect, test } from 'vitest';
import { cli, lines, scratchFolder } from '../../helpers/cli.js';

/** The part of SARIF that these tests read. */
interface Log {
  readonly version: string;
  readonly runs: readonly {
    readonly columnKind: string;
    readonly tool: { readonly driver: { readonly name: string; readonly rules: readonly { readonly id: string }[] } };
    readonly results: readonly {
      readonly ruleId: string;
      readonly ruleIndex: number;
      readonly locations: readonly {
        readonly physicalLocation: { readonly artifactLocation: { readonly uri: string } };
      }[];
    }[];
  }[];
}

const scratch = scratchFolder();
const file = scratch.write(
  'a:b,c%.aacp',
  lines('# packets', 'FECH|HR|return:HR-Agent|p:1|aacp:1.1', 'ACK|HR|p:1|aacp:1.1'),
);
const good = scratch.write('good.aacp', lines('ACK|HR|return:HR-Agent|p:1|aacp:1.1'));

const formatted = async (format: string, ...args: string[]) =>
  cli(['check', 'aacp', '--format', format, ...args, file, good]);

describe('findings as annotations of GitHub Actions', () => {
  test('have file, place and code, with what the syntax reserves in escaped form', async () => {
    const { code, stdout, stderr } = await formatted('github');
    const name = file.replace(/%/, '%25').replace(/:/g, '%3A').replace(/,/g, '%2C');
    expect(code).toBe(1);
    expect(stdout.split('\n')[0]).toBe(
      `::warning file=${name},line=2,col=1,endColumn=5,title=unknown-task::The TASK "FECH" is not one of v1.1. Help: did you mean "FETCH"?`,
    );
    expect(stderr).toContain('2 files, 3 packets, 2 valid, 1 invalid');
  });
});

describe('findings as SARIF', () => {
  test('have rules, levels, and regions in UTF-16 code units', async () => {
    const { code, stdout } = await formatted('sarif');
    const log = JSON.parse(stdout) as Log;
    expect(code).toBe(1);
    expect(log.version).toBe('2.1.0');
    const [run] = log.runs;
    expect(run!.columnKind).toBe('utf16CodeUnits');
    expect(run!.tool.driver.name).toBe('pegwire');
    const [result] = run!.results;
    expect(run!.tool.driver.rules[result!.ruleIndex]!.id).toBe(result!.ruleId);
    expect(result).toMatchObject({
      ruleId: 'unknown-task',
      level: 'warning',
      locations: [
        {
          physicalLocation: {
            artifactLocation: { uri: pathToFileURL(file).href },
            region: { startLine: 2, startColumn: 1, endColumn: 5 },
          },
        },
      ],
    });
  });

  test('name files relative to the current folder, as they were given', async () => {
    const relative = path.relative('.', file);
    const { stdout } = await cli(['check', 'aacp', '--format', 'sarif', relative]);
    const { uri } = (JSON.parse(stdout) as Log).runs[0]!.results[0]!.locations[0]!.physicalLocation.artifactLocation;
    const here = pathToFileURL(`${path.resolve('.')}/`);
    expect(fileURLToPath(new URL(uri, here))).toBe(path.resolve(relative));
  });

  test('are an empty list if there are none', async () => {
    const { code, stdout } = await cli(['check', 'aacp', '--format', 'sarif', good]);
    expect(code).toBe(0);
    expect((JSON.parse(stdout) as Log).runs[0]!.results).toEqual([]);
  });
});

describe('findings as JUnit XML', () => {
  interface Element {
    readonly name: string;
    readonly attributes: Readonly<Record<string, string>>;
  }

  const elementsOf = (text: string): Element[] => {
    const elements: Element[] = [];
    const parser = new SaxesParser();
    parser.on('opentag', ({ name, attributes }) => elements.push({ name, attributes: { ...attributes } }));
    parser.on('error', (fault) => {
      throw fault;
    });
    parser.write(text).close();
    return elements;
  };

  test('are failures of a suite for each file', async () => {
    const elements = elementsOf((await formatted('junit')).stdout);
    const suites = elements.filter(({ name }) => name === 'testsuite');
    expect(suites.map(({ attributes }) => attributes)).toEqual([
      { name: file, tests: '2', failures: '1' },
      { name: good, tests: '1', failures: '0' },
    ]);
    expect(elements.filter(({ name }) => name === 'failure')).toEqual([
      {
        name: 'failure',
        attributes: { type: 'missing-return', message: expect.stringContaining('The field return is missing') },
      },
    ]);
  });

  test('are well-formed whatever the messages contain', async () => {
    const hostile = scratch.write('hostile.accp', lines('@a>req:x{k:"<&>\u0001\ud83d\ude00', ']]>&amp;<x'));
    const { stdout } = await cli(['check', 'accp', '--format', 'junit', hostile]);
    expect(elementsOf(stdout).filter(({ name }) => name === 'failure')).toHaveLength(2);
  });
});

test.each([
  ['github', (text: string) => text.startsWith('::error file=missing.aacp,line=1,')],
  ['sarif', (text: string) => (JSON.parse(text) as Log).runs[0]!.results[0]!.ruleId === 'unreadable'],
  ['junit', (text: string) => text.includes('<testsuite name="missing.aacp" tests="1" failures="1">')],
])('a file that cannot be read is a finding of %s', async (format, isFound) => {
  for (const files of [['missing.aacp'], ['missing.aacp', good]]) {
    const { code, stdout } = await cli(['check', 'aacp', '--format', format, ...files]);
    expect({ code, isFound: isFound(stdout) }).toEqual({ code: 2, isFound: true });
  }
});

describe('other commands', () => {
  test('fmt --check reports lines that are not canonical, and those that are invalid', async () => {
    const loose = scratch.write('loose.accp', lines('@a>req:x{k:01}', '@a>req:x{'));
    const { code, stdout, stderr } = await cli(['fmt', 'accp', '--check', '--format', 'github', loose]);
    expect({ code, stderr }).toEqual({ code: 1, stderr: '' });
    expect(stdout).toMatch(
      /^::error file=[^,]*,line=1,col=1,endColumn=15,title=not-canonical::Not in canonical form\. /,
    );
    expect(stdout).toMatch(/\n::error file=[^,]*,line=2,col=10,endColumn=11,title=E1001::/);
  });

  test('find reports the invalid messages of a text at their place', async () => {
    const prose = scratch.write('prose.md', lines('Text', '', 'See @a>req:x{k:} and @a>req:y{}.'));
    const { code, stdout } = await cli(['find', 'accp', '--format', 'github', prose]);
    expect(code).toBe(1);
    expect(stdout).toMatch(/^::error file=[^,]*,line=3,col=16,endColumn=17,title=E1001::[^\n]*\n$/);
  });

  test('--json has a form of its own', async () => {
    const { code, stderr } = await cli(['check', 'aacp', '--json', '--format', 'sarif', file]);
    expect({ code, error: JSON.parse(stderr).error.code }).toEqual({ code: 2, error: 'usage' });
  });
});
