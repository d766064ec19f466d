/** Messages in parts on their way to being whole. */
import { describe, expect, test } from 'vitest';
import { memoryStore } from '../../../src/accp/codec/index.js';
import type { Dialect } from '../../../src/accp/parse.js';
import { parseFrame } from '../../../src/accp/parse.js';
import { type IncomingPart, Sequences } from '../../../src/accp/session/sequences.js';
import { Journal } from '../../../src/accp/store/journal.js';
import type { Change, EndpointStore } from '../../../src/accp/store/store.js';

const CUT = { cut: 0 };
const NEW = { cut: undefined };

interface PartOf {
  readonly index: number;
  readonly total: number;
  readonly body?: string;
  readonly cut?: number | undefined;
  readonly cid?: string;
  readonly header?: string;
  readonly now?: number;
  readonly dialect?: Dialect;
}

function part(spec: PartOf): IncomingPart {
  const { index, total, body = `k${index}:1`, cut, cid = 'c', header = 'req:x', now = 0, dialect = 'strict' } = spec;
  const text = `@a>${header}{${body}}`;
  const { agent, intent, operation } = parseFrame(text, { dialect });
  return {
    agent,
    intent,
    operation,
    part: { index, total, cut },
    envelope: {
      mid: `m${index}`,
      seq: index,
      cid,
      ts: 0,
      ttl: undefined,
      aid: undefined,
      sid: undefined,
      part: undefined,
      table: undefined,
    },
    text,
    dialect,
    now,
  };
}

/** The writes of the journal of an endpoint to a durable store. */
interface Watched {
  readonly journal: Journal;
  readonly written: Change[];
  readonly rows: ReadonlyMap<string, string>;
}

function watched(rows = new Map<string, string>()): Watched {
  const written: Change[] = [];
  const store: EndpointStore = {
    ...memoryStore().claim('s', 'a'),
    entries: () =>
      [...rows].map(([name, value]) => {
        const at = name.indexOf(' ');
        return { collection: name.slice(0, at), key: name.slice(at + 1), value };
      }),
    commit: (changes) => {
      for (const change of changes) {
        written.push(change);
        const name = `${change.collection} ${change.key}`;
        if (change.value === null) rows.delete(name);
        else rows.set(name, change.value);
      }
    },
  };
  return { journal: new Journal(store, true), written, rows };
}

function fresh(): Sequences {
  return new Sequences(watched().journal);
}

const E1001 = expect.objectContaining({ code: 'E1001' });
const E2003 = expect.objectContaining({ code: 'E2003' });

describe('a message in parts', () => {
  test('is complete with the last one, and has the envelope of the first', () => {
    const sequences = fresh();
    expect(sequences.add(part({ index: 0, total: 3, body: 'k:[007,2.500]' }))).toBeNull();
    expect(sequences.add(part({ index: 1, total: 3, body: 'k:[abc]', ...CUT }))).toBeNull();
    const joined = sequences.add(part({ index: 2, total: 3, body: 'l:1', ...NEW }))!;
    expect(joined.params).toEqual(parseFrame('@a>req:x{k:[007,2.500,abc]|l:1}').payload);
    expect(joined.envelope.mid).toBe('m0');
  });

  test('is parsed in the dialect of its parts', () => {
    const sequences = fresh();
    sequences.add(part({ index: 0, total: 2, body: 'k:[rev:-12%]', dialect: 'lenient' }));
    const joined = sequences.add(part({ index: 1, total: 2, body: 'l:1', dialect: 'lenient' }))!;
    expect(joined.params).toEqual(parseFrame('@a>req:x{k:[rev:-12%]|l:1}', { dialect: 'lenient' }).payload);
  });

  test.each(['inf:x', 'req:y'])('rejects a part with the header %s after one with req:x', (header) => {
    for (const last of [1, 2]) {
      const sequences = fresh();
      for (let index = 0; index < last; index++) sequences.add(part({ index, total: last + 1 }));
      expect(() => sequences.add(part({ index: last, total: last + 1, header }))).toThrow(E1001);
      expect(() => sequences.add(part({ index: last, total: last + 1 }))).toThrow(E1001);
    }
  });

  test('is dropped if a part is missing, and can start again', () => {
    const { journal, rows } = watched();
    const sequences = new Sequences(journal);
    sequences.add(part({ index: 0, total: 3 }));
    expect(() => sequences.add(part({ index: 2, total: 3 }))).toThrow(E1001);
    journal.commit();
    expect(rows.size).toBe(0);
    sequences.add(part({ index: 0, total: 2 }));
    expect(sequences.add(part({ index: 1, total: 2 }))).not.toBeNull();
  });

  test('that starts again has none of the previous parts', () => {
    const sequences = fresh();
    sequences.add(part({ index: 0, total: 3, body: 'old:1' }));
    sequences.add(part({ index: 0, total: 2, body: 'new:1' }));
    const joined = sequences.add(part({ index: 1, total: 2, body: 'last:1' }))!;
    expect(joined.params.map(({ key }) => key)).toEqual(['new', 'last']);
  });
});

describe('the writes to a durable store', () => {
  test('contain each part once', () => {
    const { journal, written, rows } = watched();
    const sequences = new Sequences(journal);
    const total = 1000;
    for (let index = 0; index < total; index++) {
      const joined = sequences.add(part({ index, total }));
      journal.commit();
      if (index === total - 2) expect(rows.size).toBe(total);
      expect(joined === null).toBe(index < total - 1);
    }
    const characters = written.reduce((sum, { value }) => sum + (value?.length ?? 0), 0);
    expect(characters).toBeLessThan(total * 500);
    expect(rows.size).toBe(0);
  });

  test('suffice to continue after a restart', () => {
    const rows = new Map<string, string>();
    const total = 5;
    for (let index = 0; index < total; index++) {
      const { journal } = watched(rows);
      const sequences = new Sequences(journal);
      const joined = sequences.add(part({ index, total, body: 'k:[007]', cut: index === 0 ? undefined : 0 }));
      expect(sequences.add(part({ index: 0, total, cid: `other${index}` }))).toBeNull();
      if (index === total - 1) {
        expect(joined!.params).toEqual(parseFrame('@a>req:x{k:[007,007,007,007,007]}').payload);
      }
      journal.commit();
    }
    const { journal } = watched(rows);
    expect(new Sequences(journal).dropStale(1)).toBe(total);
    journal.commit();
    expect(rows.size).toBe(0);
  });
});

describe('all incomplete messages', () => {
  const long = 'x'.repeat(1_000_000);

  test('are bounded together, not each by itself', () => {
    const sequences = fresh();
    for (let id = 0; id < 4; id++) sequences.add(part({ index: 0, total: 3, cid: `c${id}`, body: `k:${long}` }));
    expect(() => sequences.add(part({ index: 0, total: 3, cid: 'c4', body: `k:${long}` }))).toThrow(E2003);
    expect(() => sequences.add(part({ index: 1, total: 3, cid: 'c0', body: `j:${long}` }))).toThrow(E2003);
    // What was given up makes room.
    expect(sequences.add(part({ index: 0, total: 3, cid: 'c5', body: `k:${long}` }))).toBeNull();
  });

  test('make room when they are complete, start again or are dropped', () => {
    const sequences = fresh();
    for (let round = 0; round < 6; round++) {
      sequences.add(part({ index: 0, total: 2, cid: 'whole', body: `k:${long}` }));
      sequences.add(part({ index: 1, total: 2, cid: 'whole' }));
      sequences.add(part({ index: 0, total: 2, cid: 'anew', body: `k:${long}` }));
      sequences.add(part({ index: 0, total: 2, cid: `late${round}`, body: `k:${long}`, now: round }));
      expect(sequences.dropStale(round)).toBe(round === 0 ? 0 : 2);
      sequences.add(part({ index: 0, total: 2, cid: 'anew', body: `k:${long}`, now: 9 }));
    }
  });

  test('are bounded after a restart, too', () => {
    const first = watched();
    const before = new Sequences(first.journal);
    for (let id = 0; id < 4; id++) before.add(part({ index: 0, total: 2, cid: `c${id}`, body: `k:${long}` }));
    first.journal.commit();
    const sequences = new Sequences(watched(new Map(first.rows)).journal);
    expect(() => sequences.add(part({ index: 0, total: 2, cid: 'c4', body: `k:${long}` }))).toThrow(E2003);
  });

  test('are at most 64', () => {
    const sequences = fresh();
    for (let id = 0; id < 64; id++) sequences.add(part({ index: 0, total: 2, cid: `c${id}` }));
    expect(() => sequences.add(part({ index: 0, total: 2, cid: 'c64' }))).toThrow(E2003);
    expect(sequences.add(part({ index: 1, total: 2, cid: 'c0' }))).not.toBeNull();
    expect(sequences.add(part({ index: 0, total: 2, cid: 'c64' }))).toBeNull();
  });
});
