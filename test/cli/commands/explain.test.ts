import { describe, expect, test } from 'vitest';
import { explainPacket } from '../../../src/aacp/index.js';
import { explainFrame, parseFrame } from '../../../src/accp/index.js';
import { accpCases, explainCases } from '../../conformance/fixtures.js';
import { cli, jsonLines, lines } from '../../helpers/cli.js';

describe('explain accp', () => {
  test.each(['strict', 'lenient'] as const)('explains frames, one per line, %s', async (dialect) => {
    const frames = accpCases().filter((one) => one.canonical !== undefined && one.dialect === dialect);
    const { code, stdout, stderr } = await cli(['explain', 'accp', '--dialect', dialect], {
      stdin: lines(...frames.map(({ input }) => input)),
    });
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toBe(lines(...frames.map(({ input }) => explainFrame(parseFrame(input, { dialect })))));
  });

  test('does not explain invalid frames', async () => {
    const { code, stdout, stderr } = await cli(['explain', 'accp'], { stdin: lines('@a>req:x{k:', '@a>req:x{}') });
    expect(code).toBe(1);
    expect(stdout.split('\n')).toHaveLength(2);
    expect(stderr).toContain('--> stdin:1:12\n');
  });

  test('--json prints explanations and errors', async () => {
    const { code, stdout, stderr } = await cli(['explain', 'accp', '--json'], {
      stdin: lines('@a>req:x{}', '@a>req:x{'),
    });
    expect({ code, stderr }).toEqual({ code: 1, stderr: '' });
    expect(jsonLines(stdout)).toMatchObject([
      { line: 1, ok: true, explanation: explainFrame(parseFrame('@a>req:x{}')), errors: [] },
      { line: 2, ok: false, error: { code: 'E1001' } },
    ]);
  });
});

describe('explain aacp', () => {
  test('explains packets, one per line', async () => {
    const packets = explainCases()
      .map(({ packet }) => packet)
      .filter((packet) => /^[^\r\n]*\S[^\r\n]*$/.test(packet));
    const { stdout } = await cli(['explain', 'aacp'], { stdin: lines(...packets) });
    expect(stdout).toBe(lines(...packets.map((packet) => explainPacket(packet))));
  });

  test('explains an invalid packet, reports its errors, and exits with 1', async () => {
    const { code, stdout, stderr } = await cli(['explain', 'aacp'], { stdin: 'FETCH|HR|return:A||p:1|aacp:1.1' });
    expect(code).toBe(1);
    expect(stdout).toMatch(/^Retrieve .*Return to: A\. .*\n$/);
    expect(stderr).toContain('error[empty-field]: ');
    expect(stderr).toContain('--> stdin:1:19\n');
  });

  test('does not report warnings', async () => {
    const { code, stderr } = await cli(['explain', 'aacp'], { stdin: 'FECH|HR|return:A|p:1|aacp:1.1' });
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  });

  test('explains only packets of the strict dialect with --dialect strict', async () => {
    const { code, stdout } = await cli(['explain', 'aacp', '--dialect', 'strict'], {
      stdin: 'ACK|HR|return:A||aacp:1.1',
    });
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
  });

  test('--json prints the explanation and the errors', async () => {
    const { code, stdout, stderr } = await cli(['explain', 'aacp', '--json'], { stdin: 'ACK|HR|return:A||aacp:1.1' });
    expect({ code, stderr }).toEqual({ code: 1, stderr: '' });
    expect(jsonLines(stdout)).toMatchObject([
      { line: 1, ok: false, explanation: expect.stringContaining('Return to: A'), errors: [{ code: 'empty-field' }] },
    ]);
  });
});
