/** Values by name that outlive the work that keeps them (spec 003, "Sessions": "maintain memory", "share execution context"). */
import { ignoringRejections } from '../../../async/listeners.js';
import { byCodeUnit } from '../../../text/ascii.js';
import { jsonOf } from '../../protocol/json.js';
import type { ArcpStore, NewEvent, RecordChange, StoredRecord } from '../../store/store.js';
import type { JobOutbox } from '../job/outbox.js';
import type { Values } from '../types.js';

export interface ValuesOptions {
  readonly id: string;
  readonly scope: string;
  readonly owner?: string | undefined;
  readonly store: ArcpStore;
  readonly outbox: JobOutbox;
  /** Values of keys that were never set or deleted. */
  readonly initial?: Readonly<Record<string, unknown>> | undefined;
  /** Reports a change. */
  readonly changed?: ((key: string, value: unknown) => NewEvent) | undefined;
}

/** Marks a deleted value. The record stays, so that versions keep rising. */
const DELETED = '';

function valueIn<T>(found: StoredRecord | undefined): T | undefined {
  return found === undefined || found.value === DELETED ? undefined : (JSON.parse(found.value) as T);
}

export function valuesOf({ id, scope, owner, store, outbox, initial = {}, changed }: ValuesOptions): Values {
  const valueAt = <T>(key: string, found: StoredRecord | undefined): T | undefined =>
    found === undefined && Object.hasOwn(initial, key) ? (structuredClone(initial[key]) as T) : valueIn<T>(found);
  const record = (key: string, value: unknown, expect?: number): RecordChange => ({
    scope,
    key,
    value: value === undefined ? DELETED : jsonOf(value, `the value of ${key}`),
    expect,
    owner,
  });
  const told = (key: string, value: unknown): readonly NewEvent[] =>
    changed === undefined ? [] : [changed(key, value)];
  return {
    id,
    get: async <T>(key: string) => valueAt<T>(key, await store.readRecord(scope, key)),
    set: ignoringRejections(async (key, value) =>
      outbox.add({ records: [record(key, value ?? null)], events: told(key, value ?? null) }),
    ),
    update: ignoringRejections(async <T>(key: string, change: (value: T | undefined) => T) => {
      for (;;) {
        const found = await store.readRecord(scope, key);
        const value = change(valueAt<T>(key, found)) ?? null;
        const changed = record(key, value, found?.version ?? 0);
        if (await outbox.tryAdd({ records: [changed], events: told(key, value) }))
          return JSON.parse(changed.value!) as T;
      }
    }),
    delete: (key) => outbox.add({ records: [record(key, undefined)], events: told(key, null) }),
    entries: async () => {
      const all = await store.listRecords(scope, { limit: Number.POSITIVE_INFINITY });
      const values = new Map(Object.entries(structuredClone(initial)));
      for (const { key, value } of all) {
        if (value === DELETED) values.delete(key);
        else values.set(key, JSON.parse(value));
      }
      return [...values].sort(([a], [b]) => byCodeUnit(a, b));
    },
  };
}
