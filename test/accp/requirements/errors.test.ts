/** The error model (draft-benzing-accp-00, section 3.6). */

import { describe, expect, test } from 'vitest';
import * as z from 'zod';
import {
  type AccpError,
  type AccpErrorCode,
  defineTools,
  ERROR_CODES,
  memoryStore,
} from '../../../src/accp/codec/index.js';
import { parseFrame } from '../../../src/accp/index.js';
import { accepted, COUNTS_X, type EndpointOptions, type Endpoints, endpoints, NOON, rejected } from './endpoints.js';

/** A frame of the other side, with the rest of its envelope. */
const frame = (body: string, rest = 'seq:1'): string => `@planner>${body}[mid:m1,${rest}]`;

/** For each code, an operation that causes it, with the error and its frame. */
interface Trouble {
  readonly error: Pick<AccpError, 'code' | 'codeName' | 'retryable'>;
  /** None where the trouble is that nothing came. */
  readonly reply: string | null;
}

function refusing(
  code: AccpErrorCode,
  text: string,
  options: EndpointOptions = {},
  prepare?: (ends: Endpoints) => void,
): Trouble {
  const ends = endpoints(options);
  prepare?.(ends);
  return rejected(ends.codec.decode(text, ends.worker), code);
}

function failing(request: string, thrown: Error): Trouble {
  const { codec, planner, worker } = endpoints();
  const { message } = accepted(codec.decode(request, worker));
  const reply = codec.fail(message, thrown, worker);
  accepted(codec.decode(request, planner));
  const { code, retryable } = accepted(codec.decode(reply, planner)).message.payload;
  const { name } = ERROR_CODES[code as AccpErrorCode];
  return { error: { code: code as AccpErrorCode, codeName: name, retryable: retryable as boolean }, reply };
}

const TOOLS = defineTools({ web_search: z.object({ q: z.string() }) });

/** Table 6, and how each of its errors comes about. */
const TABLE: readonly (readonly [AccpErrorCode, string, 'Yes' | 'No', () => Trouble])[] = [
  ['E1001', 'PARSE_ERROR', 'No', () => refusing('E1001', '@planner>req:run{v:')],
  ['E1002', 'INVALID_INTENT', 'No', () => refusing('E1002', frame('nap:run{}'))],
  ['E1003', 'UNKNOWN_SCHEMA', 'No', () => refusing('E1003', frame('req:run{schema:ZZ}'))],
  ['E1004', 'INVALID_TYPE', 'No', () => refusing('E1004', frame('req:run{}', 'seq:1,ts:soon'))],
  ['E2001', 'REF_NOT_FOUND', 'No', () => refusing('E2001', frame('req:run{v:$cold.nothing}'))],
  [
    'E2002',
    'REF_EXPIRED',
    'No',
    () =>
      refusing('E2002', frame('req:run{v:$hot.goal}'), {}, ({ codec, worker, clock }) => {
        codec.getBudget(worker);
        worker.state.set('hot', 'goal', 'launch', { ttlMs: 10_000 });
        clock.now += 11;
      }),
  ],
  [
    'E2003',
    'BUDGET_EXCEEDED',
    'No',
    () =>
      refusing(
        'E2003',
        `@planner>req:run{v1:${'x'.repeat(51)}}[mid:m2,seq:2]`,
        { codec: { counter: COUNTS_X, checkpoints: 'manual' } },
        ({ codec, worker }) => codec.decode(frame(`req:run{v1:${'x'.repeat(450)}}`), worker),
      ),
  ],
  [
    'E3001',
    'TIMEOUT',
    'Yes',
    () => {
      const { codec, planner, clock } = endpoints({ session: { timeoutMs: 60_000 } });
      codec.encode({ intent: 'req', operation: 'run' }, planner);
      clock.now += 60;
      return { error: planner.tick()[0]!.error, reply: null };
    },
  ],
  [
    'E3002',
    'DUPLICATE',
    'No',
    () => refusing('E3002', frame('req:run{}'), {}, ({ codec, worker }) => codec.decode(frame('req:run{}'), worker)),
  ],
  ['E3003', 'SEQUENCE_GAP', 'Yes', () => refusing('E3003', frame('req:run{}', 'seq:7'))],
  [
    'E4001',
    'TOOL_NOT_FOUND',
    'No',
    () => refusing('E4001', frame('req:tool{tool:no_such|schema:TC}'), { codec: { tools: TOOLS } }),
  ],
  [
    'E4002',
    'TOOL_EXEC_FAILED',
    'Yes',
    () => failing(frame('req:tool{tool:web_search|schema:TC}', 'seq:1,cid:c1'), new Error('no network')),
  ],
  [
    'E4003',
    'TOOL_SCHEMA_MISMATCH',
    'No',
    () => refusing('E4003', frame('req:tool{tool:web_search|args:{q:7}|schema:TC}'), { codec: { tools: TOOLS } }),
  ],
  [
    'E5001',
    'POLICY_DENIED',
    'No',
    () => refusing('E5001', frame('req:purge{}'), { codec: { authorize: ({ operation }) => operation !== 'purge' } }),
  ],
  [
    'E5002',
    'UNAUTHORIZED_REF',
    'No',
    () => {
      const store = memoryStore();
      const other = endpoints({ session: { id: 'another', store } });
      other.codec.getBudget(other.planner);
      other.planner.state.set('cold', 'secret', 'launch_codes');
      other.codec.getBudget(other.planner);
      return refusing('E5002', frame('req:run{v:$cold.secret}'), { session: { store } });
    },
  ],
  ['E9999', 'INTERNAL_ERROR', 'Yes', () => failing(frame('req:run{}'), new Error('the disk is full'))],
];

describe('error codes', () => {
  test.each(TABLE)('%s %s (retryable: %s) is raised, and sent to the other side', (code, codeName, column, cause) => {
    const retryable = column === 'Yes';
    const { error, reply } = cause();
    expect(error).toMatchObject({ code, codeName, retryable });
    expect(ERROR_CODES[code]).toEqual({ name: codeName, retryable });
    if (reply !== null) expect(reply).toMatch(new RegExp(`\\{code:${code}\\|msg:[^|]+\\|retry:${retryable}[|]`));
    else expect(code).toBe('E3001');
  });

  test('there are only those of Table 6', () => {
    expect(Object.keys(ERROR_CODES)).toEqual(TABLE.map(([code]) => code));
  });

  test.each([
    ['E1', 'parse and grammar errors', ['E1001', 'E1002', 'E1003', 'E1004']],
    ['E2', 'errors of the state store', ['E2001', 'E2002', 'E2003']],
    ['E3', 'errors of transport and delivery', ['E3001', 'E3002', 'E3003']],
    ['E4', 'errors of tools', ['E4001', 'E4002', 'E4003']],
    ['E5', 'errors of policy and authorization', ['E5001', 'E5002']],
    ['E9', 'internal and unknown errors', ['E9999']],
  ])('the range %sxxx holds %s', (range, _what, codes) => {
    expect(Object.keys(ERROR_CODES).filter((code) => code.startsWith(range))).toEqual(codes);
    for (const [code, , , cause] of TABLE) if (code.startsWith(range)) expect(cause().error.code).toBe(code);
  });

  test('a code outside of the ranges of Table 5 is read with a warning', () => {
    const { codec, worker } = endpoints();
    const { warnings } = accepted(codec.decode(frame('fail:error{code:E7001|msg:odd|schema:ER}'), worker));
    expect(warnings.map(({ code }) => code)).toEqual(['error-range']);
  });

  test('no answer in time: each overdue request is reported once', () => {
    const { codec, planner, clock } = endpoints({ session: { timeoutMs: 60_000 } });
    const { correlationId } = codec.encode({ intent: 'req', operation: 'run' }, planner);
    clock.now += 59;
    expect(planner.tick()).toEqual([]);
    clock.now += 1;
    expect(planner.tick()).toMatchObject([{ correlationId, error: { code: 'E3001', retryable: true } }]);
    expect(planner.tick()).toEqual([]);
  });
});

describe('error frames', () => {
  test('have the intent fail, the operation error and the schema ER', () => {
    const { codec, worker } = endpoints();
    const { reply } = rejected(codec.decode('not a frame', worker), 'E1001');
    expect(parseFrame(reply!)).toMatchObject({ agent: 'worker', intent: 'fail', operation: 'error' });
    expect(parseFrame(reply!).payload.map(({ key }) => key)).toEqual(['code', 'msg', 'retry', 'schema']);
    expect(reply).toMatch(/\|schema:ER\}/);
  });

  test('the draft’s example is read, with full key names', () => {
    const { codec, worker } = endpoints({ session: { firstSequence: 4 } });
    const example =
      '@agent>fail:error{code:E3001|msg:connection_timed_out|retry:true|schema:ER}[mid:abc,seq:4,ts:1714000001]';
    expect(accepted(codec.decode(example, worker)).message).toEqual({
      agent: 'agent',
      intent: 'fail',
      operation: 'error',
      schema: 'ER',
      payload: { code: 'E3001', message: 'connection_timed_out', retryable: true },
      envelope: { msg_id: 'abc', sequence: 4, timestamp: NOON + 1 },
    });
  });

  test.each([
    ['another intent', 'done:error{code:E1001|msg:x|schema:ER}'],
    ['another operation', 'fail:run{code:E1001|msg:x|schema:ER}'],
  ])('the schema ER in a frame of %s is rejected, in both directions', (_what, body) => {
    const { codec, planner, worker } = endpoints();
    rejected(codec.decode(frame(body), worker), 'E1004');
    const [intent, operation] = body.split(/[:{]/) as [string, string];
    const payload = { code: 'E1001', message: 'x' };
    expect(() => codec.encode({ intent, operation, schema: 'ER', payload }, planner)).toThrow(/3\.6/);
  });

  test('an error frame cannot be sent with another retryable than that of the table', () => {
    const { codec, planner } = endpoints();
    const error = (retryable: boolean): unknown =>
      codec.encode(
        { intent: 'fail', operation: 'error', schema: 'ER', payload: { code: 'E3003', message: 'gap', retryable } },
        planner,
      );
    expect(() => error(false)).toThrow(/Table 6/);
    expect(error(true)).toMatchObject({
      frames: [expect.stringContaining('{code:E3003|msg:gap|retry:true|schema:ER}')],
    });
  });

  test('an error frame is never answered by another one', () => {
    const { codec, worker } = endpoints();
    for (const body of [
      'fail:error{code:E9999|msg:x|retry:true|schema:ER}',
      'fail:error{code:E9999|msg:x|schema:ZZ}',
      'fail:error{code:12|msg:x|schema:ER}',
      'fail:error{v:$cold.nothing}',
    ]) {
      const outcome = codec.decode(frame(body, 'seq:99'), worker);
      expect(outcome).toMatchObject({ outcome: 'rejected', reply: null });
    }
    expect(codec.decode(frame('req:run{}', 'seq:99'), worker)).toMatchObject({ reply: expect.any(String) });
  });
});
