import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, test } from 'vitest';
import { validateAsSdkPy } from '../../../src/aacp/compat.js';
import { cli, jsonLines } from '../../helpers/cli.js';

const ADAPTER = fileURLToPath(new URL('../../fuzz/foreign/aacp_sdk_adapter.py', import.meta.url));
const isThere = spawnSync('python3', ['--version']).status === 0;
if (!isThere) console.warn('Skipped: there is no python3 to run a foreign adapter with (Debian package: python3).');

const folder = mkdtempSync(path.join(tmpdir(), 'pegwire-foreign-'));
afterAll(() => rmSync(folder, { recursive: true }));

interface Found {
  readonly input: string;
  readonly note: string;
  readonly file: string;
  readonly found: { readonly kind: string; readonly answer: { readonly ok: boolean; readonly message?: string } };
}

function fuzz(count: number, ...more: readonly string[]): ReturnType<typeof cli> {
  const target = `python3 "${ADAPTER}"`;
  return cli(['fuzz', 'aacp', '--target', target, '--count', `${count}`, '--seed', '1', '--output', folder, ...more]);
}

/** The known differences of the reference Python SDK, as findings describe them. */
const KNOWN: readonly [what: string, isShown: (found: Found) => boolean][] = [
  ['rejects packets without fields', ({ found }) => found.answer.message?.startsWith('Packet too short') === true],
  ['ignores empty slots', ({ note }) => note.includes('an empty field between two separators')],
  ['ignores slots without a colon', ({ note }) => note.includes('The field has no colon')],
  ['trims white space', ({ note }) => note.includes('White space around a token')],
  ['accepts other keys', ({ note }) => note.includes('A key consists of')],
  ['keeps only one of equal keys', ({ found, input }) => found.kind === 'different-tree' && /(\|.+:).*\1/.test(input)],
];

describe.skipIf(!isThere)(
  `a foreign reader${isThere ? '' : ' (skipped: python3 is missing; Debian has it as python3)'}`,
  () => {
    test('finds the known differences, each with a case in a file', async () => {
      const { code, stdout } = await fuzz(500, '--json');
      const found = jsonLines(stdout).slice(0, -1) as Found[];
      expect(code).toBe(1);
      expect(KNOWN.filter(([, isShown]) => !found.some(isShown)).map(([what]) => what)).toEqual([]);
      for (const { file, input } of found) {
        expect(input.length).toBeLessThan(60);
        expect(JSON.parse(readFileSync(file, 'utf8'))).toMatchObject({ input });
      }
    });

    test('is reported in full sentences', async () => {
      const { stdout } = await fuzz(100);
      const report = stdout.split('\n\n').find((one) => one.includes('The field has no colon'))!;
      expect(report).toMatch(/^\d+\. python3 .* accepts an invalid text$/m);
      expect(report).toMatch(/^ +sent: +"[A-Z]+\|[A-Z]+\|\w+"$/m);
      expect(report).toMatch(/^ +expected: +rejected with malformed-field at offset \d+: The field has no colon\.$/m);
      expect(report).toMatch(/^ +basis: +draft-mackay-aacp-01, section 4$/m);
      expect(report).toMatch(/^ +actual: +accepted, as \{"kind":"packet",.*"fields":\[\]\}$/m);
      expect(report).toMatch(/^ +saved as: +\S+\.json$/m);
      const again = /^ +try it: +(.*)$/m.exec(report)![1]!;
      const { stdout: answer } = spawnSync(again, { shell: true, encoding: 'utf8' });
      expect(JSON.parse(answer)).toMatchObject({ ok: true, ast: { kind: 'packet', fields: [] } });
    });

    test('has the verdicts of compat', async () => {
      const packets = [
        '',
        ' ',
        'A|B',
        'FETCH|HR|p:1',
        'FETCH|HR|RETURN: a',
        'X|HR|return:a',
        'LOG|IT||return:',
        '||return:x',
      ];
      const requests = packets.map((input) => `${JSON.stringify({ input })}\n`).join('');
      const { stdout } = spawnSync('python3', [ADAPTER, '--verdict'], { input: requests, encoding: 'utf8' });
      const expected = packets.map((packet) => {
        const { valid, errors } = validateAsSdkPy(packet);
        return valid ? [true] : [false, errors[0]];
      });
      const given = (jsonLines(stdout) as { ok: boolean; message?: string }[]).map(({ ok, message }) =>
        ok ? [ok] : [ok, message],
      );
      expect(given).toEqual(expected);
    });
  },
);
