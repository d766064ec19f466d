import { describe, expect, test } from 'vitest';
import { validatePacket } from '../../../src/aacp/index.js';
import { accpCases, validatorCases } from '../../conformance/fixtures.js';
import { cli, jsonLines, lines } from '../../helpers/cli.js';

describe('check accp', () => {
  test('reports nothing about valid frames, and prints counts to stderr', async () => {
    const { code, stdout, stderr } = await cli(['check', 'accp'], { stdin: lines('@a>req:x{k:1}', '@a>req:x{k:01}') });
    expect({ code, stdout }).toEqual({ code: 0, stdout: '' });
    expect(stderr).toBe('2 frames, 2 valid, 0 invalid, 0 errors, 0 warnings\n');
  });

  test('reports errors on stdout, each with its line', async () => {
    const stdin = lines('@a>req:x{k:1}', '@a>req:x{k:1|k:2}', '', '@a>req:x{k:[1}');
    const { code, stdout, stderr } = await cli(['check', 'accp'], { stdin });
    expect(code).toBe(1);
    expect(stdout).toContain(lines(' --> stdin:2:14', '  |', '2 | @a>req:x{k:1|k:2}', '  |              ^'));
    expect(stdout).toContain(lines(' --> stdin:4:14', '  |', '4 | @a>req:x{k:[1}', '  |              ^'));
    expect(stdout.match(/^error\[E1001\]: /gm)).toHaveLength(2);
    expect(stderr).toBe('3 frames, 1 valid, 2 invalid, 2 errors, 0 warnings\n');
  });

  test.each(['strict', 'lenient'] as const)('--json: the verdicts of the conformance cases, %s', async (dialect) => {
    const cases = accpCases().filter((one) => one.dialect === dialect && /^[^\n\r]*\S[^\n\r]*$/.test(one.input));
    const { code, stdout, stderr } = await cli(['check', 'accp', '--json', '--dialect', dialect], {
      stdin: lines(...cases.map(({ input }) => input)),
    });
    expect({ code, stderr }).toEqual({ code: 1, stderr: '' });
    expect(jsonLines(stdout)).toMatchObject(
      cases.map(({ error }, index) => ({
        line: index + 1,
        valid: error === undefined,
        errors: error === undefined ? [] : [{ code: error.code, severity: 'error', span: { start: error.offset } }],
        warnings: [],
      })),
    );
  });

  test('counts one error in the singular', async () => {
    const { stderr } = await cli(['check', 'accp'], { stdin: '@a>req:x{k:' });
    expect(stderr).toBe('1 frame, 0 valid, 1 invalid, 1 error, 0 warnings\n');
  });
});

describe('check aacp', () => {
  test('warnings leave a packet valid, and the exit code 0', async () => {
    const { code, stdout, stderr } = await cli(['check', 'aacp'], { stdin: 'FECH|HR|return:A|p:1|aacp:1.1' });
    expect(code).toBe(0);
    expect(stdout).toContain('warning[unknown-task]: ');
    expect(stdout).toContain(lines(' --> stdin:1:1', '  |', '1 | FECH|HR|return:A|p:1|aacp:1.1', '  | ^^^^'));
    expect(stdout).toContain('help: did you mean "FETCH"?\n');
    expect(stderr).toBe('1 packet, 1 valid, 0 invalid, 0 errors, 1 warning\n');
  });

  test('reports all errors of a packet in text order', async () => {
    const { code, stdout, stderr } = await cli(['check', 'aacp'], { stdin: 'FETCH|HR|p:high|res:a|res:b' });
    expect(code).toBe(1);
    expect(stdout.match(/^(error|warning)\[[a-z-]+\]/gm)).toEqual([
      'warning[bad-priority]',
      'error[duplicate-key]',
      'error[missing-return]',
      'error[missing-aacp]',
    ]);
    expect(stderr).toBe('1 packet, 0 valid, 1 invalid, 3 errors, 1 warning\n');
  });

  test('--json: the verdicts of the conformance cases', async () => {
    const cases = validatorCases().filter(({ packet }) => /^[^\n]*\S[^\n]*$/.test(packet) && !packet.endsWith('\r'));
    expect(cases.length).toBeGreaterThan(60);
    // The first line is another packet, since a byte order mark at the start of the input would not be part of a packet.
    const { stdout, stderr } = await cli(['check', 'aacp', '--json'], {
      stdin: lines('ACK|HR', ...cases.map(({ packet }) => packet)),
    });
    expect(stderr).toBe('');
    const verdicts = jsonLines(stdout) as {
      valid: boolean;
      errors: { code: string }[];
      warnings: { code: string }[];
    }[];
    const codes = (findings: readonly { code: string }[]) => findings.map(({ code }) => code).sort();
    expect(
      verdicts
        .slice(1)
        .map(({ valid, errors, warnings }) => ({ valid, errors: codes(errors), warnings: codes(warnings) })),
    ).toEqual(
      cases.map(({ valid, errors, warnings }) => ({
        valid,
        errors: errors.toSorted(),
        warnings: warnings.toSorted(),
      })),
    );
  });

  test('--json includes the section and help of a finding', async () => {
    const { stdout } = await cli(['check', 'aacp', '--json'], { stdin: 'FECH|HR|return:A|p:1|aacp:1.1' });
    expect(jsonLines(stdout)).toEqual([
      {
        line: 1,
        valid: true,
        errors: [],
        warnings: [
          {
            code: 'unknown-task',
            severity: 'warning',
            message: expect.any(String),
            span: { start: 0, end: 4 },
            section: expect.any(String),
            help: 'did you mean "FETCH"?',
          },
        ],
      },
    ]);
  });

  test.each(['draft', 'interop'] as const)('--profile %s reports the findings of that profile', async (profile) => {
    const packet = 'FETCH|HR|return:A|p:1|aacp:1.2|zone:eu|amt:1';
    const { stdout } = await cli(['check', 'aacp', '--json', '--profile', profile], { stdin: packet });
    const { valid, errors, warnings } = validatePacket(packet, { profile });
    expect(jsonLines(stdout)).toEqual([
      JSON.parse(JSON.stringify({ line: 1, valid, errors: errors, warnings: warnings })),
    ]);
  });

  test('the profiles differ', async () => {
    const stdin = lines(...validatorCases().map(({ packet }) => packet.replace(/[\r\n]/g, '')));
    const draft = await cli(['check', 'aacp', '--json'], { stdin });
    const interop = await cli(['check', 'aacp', '--json', '--profile', 'interop'], { stdin });
    expect(interop.stdout).not.toBe(draft.stdout);
    expect((await cli(['check', 'aacp', '--json', '--profile', 'draft'], { stdin })).stdout).toBe(draft.stdout);
  });
});
