/** The tables of compact frames in `bench/results/tokens.md`: the messages, the JSON beside them, and the figures. */
import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { type JsonBody, JsonReader, JsonWriter } from '../../bench/compact/json-codec.js';
import { countsOf, rowOf, writeAll } from '../../bench/compact/measure.js';
import { readCompactTokens } from '../../bench/compact/report.js';
import { corpusRound, generatedRound } from '../../bench/compact/samples.js';
import { Counts, compactTable } from '../../bench/compact-table.js';
import { loadTokenCounter } from '../../src/tokens/load-counter.js';

const counter = await loadTokenCounter('o200k_base');
const report = readCompactTokens();

describe('the messages', () => {
  test('are the same in each run, and other ones in each round and half', () => {
    for (const make of [corpusRound, generatedRound]) {
      expect(make(1)).toEqual(make(1));
      const [first, second] = [make(1), make(2)];
      expect(second.map(({ id }) => id)).toEqual(first.map(({ id }) => id));
      const changed = first.filter(
        ({ payload }, index) => JSON.stringify(payload) !== JSON.stringify(second[index]!.payload),
      );
      expect(changed.length).toBeGreaterThan(0.9 * first.length);
    }
    expect(generatedRound(1, 'tuning')).not.toEqual(generatedRound(1, 'unseen'));
  });
});

describe('JSON with the same means', () => {
  test('refers to known shapes and strings by number', () => {
    const writer = new JsonWriter(counter);
    const body: JsonBody = {
      ...{ agent: 'warehouse', intent: 'done', operation: 'stock' },
      payload: {
        place: 'north_hall_storage',
        rows: [
          { sku: 1, due: '2026-04-17' },
          { sku: 2, due: null },
        ],
      },
    };
    expect(writer.write(body)).toBe(
      '["warehouse","done","stock",null,{"place":"north_hall_storage","rows":{"0":[["sku","due"],[1,"#46127"],[2,null]]}}]',
    );
    expect(writer.write(body)).toBe('["warehouse","done",0,["$1",{"4":[[1,"#46127"],[2,null]]}]]');
  });

  test('is read as it was, with strings and keys that look like its own', () => {
    const payload = {
      7: ['$1', '#46127', '=x', '2026-04-17T01:02:03Z'],
      '=a': { 0: [[1]], b: {} },
      list: [{ 1: 'a' }, { 1: 'b' }],
    };
    const body: JsonBody = { agent: 'a', intent: 'req', operation: 'x', schema: 'S', payload };
    const [writer, reader] = [new JsonWriter(counter), new JsonReader()];
    for (let round = 0; round < 3; round++) expect(reader.read(writer.write(body))).toEqual(body);
  });
});

describe('the figures', () => {
  test('are in the page', () => {
    const page = readFileSync(new URL('../../bench/results/tokens.md', import.meta.url), 'utf8');
    expect(page).toContain(compactTable(report));
  });

  test('agree with the codec in o200k', () => {
    const { measured, announcements, registries } = writeAll(counter);
    expect({ announcements: report.announcements, registries: report.registries }).toEqual({
      announcements,
      registries,
    });
    const rows = measured.map((one) => rowOf(one, [countsOf(one.written, counter.count)]));
    expect(report.rows.map((row) => ({ ...row, tokens: row.tokens.slice(0, 1) }))).toEqual(rows);
  });

  test('have a sum for each tokenizer and form', () => {
    const counts = new Counts(report);
    const rows = counts.rows('first', 'corpus');
    expect(rows).toHaveLength(39);
    expect(counts.sum(rows, 'o200k', 'json')).toBe(rows.reduce((sum, { tokens }) => sum + tokens[0]![0]!, 0));
    expect(counts.change(rows, 'llama3.1', 'json', 'json')).toBe(0);
    expect(counts.above(rows[0]!, 'json', 'compact')).toEqual(report.tokenizers);
  });
});
