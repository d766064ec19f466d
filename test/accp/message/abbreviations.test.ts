/** The draft's short and full names of keys. */
import { describe, expect, test } from 'vitest';
import { keyTable } from '../../../src/accp/message/abbreviations.js';
import { ABBREVIATIONS } from '../../../src/accp/vocabulary.js';

const SCHEMAS = [undefined, 'CH', 'TC', 'TX', 'ST', 'TA', 'ER'];

const TABLE_8 = {
  ...{ d: 'data', f: 'findings', nx: 'next_action', src: 'source', dst: 'destination', q: 'query', fmt: 'format' },
  ...{ pri: 'priority', err: 'error', v: 'version', ts: 'timestamp', ttl: 'ttl', ctx: 'context', who: 'target' },
  ...{ when: 'when', why: 'reason' },
};

const SECTION_10 = {
  TC: { tool: 'tool_name', args: 'arguments', res: 'result', stat: 'status' },
  TX: { txn: 'transaction_id', amt: 'amount', acc: 'account', stat: 'status' },
  ST: { idx: 'chunk_index', tot: 'total_chunks', done: 'is_final' },
  TA: { asgn: 'assignee', dead: 'deadline', prog: 'progress', stat: 'status' },
  ER: { msg: 'message', retry: 'retryable' },
};

describe('standard abbreviations (Table 8)', () => {
  test.each(SCHEMAS)('apply to frames of schema %s', (schema) => {
    const table = keyTable(schema);
    for (const [short, full] of Object.entries(TABLE_8)) {
      expect([table.abbreviate(full), table.expand(short)]).toEqual([short, full]);
    }
  });

  test('are those that the explanations know', () => {
    expect(Object.keys(ABBREVIATIONS).sort()).toEqual(Object.keys(TABLE_8).sort());
  });
});

describe('abbreviations of profiles (section 10)', () => {
  test.each(Object.entries(SECTION_10))('%s has its own, which no other profile has', (schema, own) => {
    for (const [short, full] of Object.entries(own)) {
      expect([keyTable(schema).abbreviate(full), keyTable(schema).expand(short)]).toEqual([short, full]);
      for (const other of SCHEMAS) {
        const shares = other !== undefined && Object.hasOwn((SECTION_10 as Record<string, object>)[other] ?? {}, short);
        if (!shares) expect([keyTable(other).abbreviate(full), keyTable(other).expand(short)]).toEqual([full, short]);
      }
    }
  });

  test.each([undefined, 'XX', 'constructor', '__proto__', 'ch'])('a schema %s has those of Table 8', (schema) => {
    expect(keyTable(schema).fields).toEqual(keyTable(undefined).fields);
    expect(keyTable(schema).fields).toHaveLength(Object.keys(TABLE_8).length);
  });
});

test.each(SCHEMAS.map((schema) => keyTable(schema)))('expanding and abbreviating loses no key', (table) => {
  const words = table.fields.flat();
  for (const word of words) {
    expect(table.expand(table.abbreviate(word))).toBe(table.expand(word));
    expect(table.abbreviate(table.expand(word))).toBe(table.abbreviate(word));
  }
  expect(new Set(table.fields.map(([, short]) => short)).size).toBe(table.fields.length);
  for (const key of ['toString', '__proto__', 'other_key', '']) {
    expect([table.abbreviate(key), table.expand(key)]).toEqual([key, key]);
  }
});
