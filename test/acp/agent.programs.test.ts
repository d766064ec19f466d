/** The minimal agent against the cases of conformance/acp, and against inputs that are too large for a case. */
import { describe, expect, test } from 'vitest';
import { bundledProgram } from '../helpers/bundled-program.js';
import { encode, linesOf, runAgent } from './agent-process.js';
import { cases, expectedOf, outputOf, piecesOf, simplified } from './cases.js';

const agent = bundledProgram(new URL('../fixtures/minimal-agent.mjs', import.meta.url));

const request = (id: unknown, method: string, params?: unknown): string =>
  JSON.stringify({ jsonrpc: '2.0', id, method, ...(params === undefined ? {} : { params }) });

describe('an agent on stdio', () => {
  test.concurrent.each(cases)('$id: $name', async (one) => {
    const ran = await runAgent(agent(), piecesOf(one));
    expect(outputOf(ran)).toEqual(expectedOf(one, ran));
    expect(ran.code).toBe(0);
  });

  test('T11: a line of 8 MiB is echoed', async () => {
    const big = 'é'.repeat(4 * 1024 * 1024);
    const ran = await runAgent(agent(), [encode(`${request(1, 'echo', [big])}\n`)]);
    expect(linesOf(ran)).toEqual([{ jsonrpc: '2.0', id: 1, result: [big] }]);
  });

  test('T11: a line over 32 MiB is rejected with one error, and the agent exits', async () => {
    const ran = await runAgent(agent(), [encode('x'.repeat(33 * 1024 * 1024)), encode(`\n${request(1, 'echo')}\n`)]);
    expect(outputOf(ran)).toEqual([{ id: null, error: -32600 }]);
    expect(ran.code).toBe(0);
  });

  test('T12: params with 20 000 levels do not crash the agent', async () => {
    const deep = `${'['.repeat(20_000)}${']'.repeat(20_000)}`;
    const line = `{"jsonrpc":"2.0","id":1,"method":"echo","params":${deep}}`;
    const ran = await runAgent(agent(), [encode(`${line}\n${request(2, 'echo', [2])}\n`)]);
    const [first, second] = linesOf(ran).map(simplified);
    // Such a result cannot be serialized.
    expect(first).toMatchObject({ id: 1, error: -32603 });
    expect(second).toEqual({ id: 2, result: [2] });
    expect(ran.code).toBe(0);
  });

  test('T14: log output is UTF-8 on stderr only', async () => {
    const ran = await runAgent(agent(), [encode(`${request(1, 'log', { text: 'Grüße €😀' })}\n`)]);
    expect(ran.stderr).toContain('Grüße €😀');
    expect(linesOf(ran)).toEqual([{ jsonrpc: '2.0', id: 1, result: null }]);
  });

  test('T15: the agent exits when its input ends', async () => {
    expect(await runAgent(agent(), [])).toEqual({ stdout: '', stderr: '', code: 0 });
  });

  test('T19: 20 000 requests are all answered, in order', async () => {
    const lines = Array.from({ length: 20_000 }, (_, id) => request(id, 'echo', [id]));
    const ran = await runAgent(agent(), [encode(`${lines.join('\n')}\n`)]);
    expect(linesOf(ran).map((line) => (line as { id: number }).id)).toEqual(lines.map((_, id) => id));
  });

  test('B17: a batch of 1000 is answered on one line', async () => {
    const entries = Array.from({ length: 1000 }, (_, id) => request(id, 'echo', [id]));
    const ran = await runAgent(agent(), [encode(`[${entries.join(',')}]\n`)]);
    const [answer, ...rest] = linesOf(ran) as { id: number }[][];
    expect(rest).toEqual([]);
    expect(answer!.map(({ id }) => id).sort((a, b) => Number(a) - Number(b))).toEqual(entries.map((_, id) => id));
  });

  test('B23: the entries of a batch run at the same time', async () => {
    // Sequential handlers would finish in the order of the requests.
    const entries = [
      request(1, 'sleep', { ms: 150 }),
      request(2, 'sleep', { ms: 100 }),
      request(3, 'sleep', { ms: 50 }),
    ];
    const ran = await runAgent(agent(), [encode(`[${entries.join(',')}]\n`)]);
    // The array has the order in which the handlers finished.
    expect((linesOf(ran) as { id: number }[][])[0]!.map(({ id }) => id)).toEqual([3, 2, 1]);
  });
});
