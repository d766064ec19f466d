/** State that both sides keep alike, by deltas (draft-benzing-accp-00, section 5.4). */
import { AccpError } from '../errors/accp-error.js';
import type { Json, JsonObject } from '../message/json.js';
import type { Collection, Journal } from '../store/journal.js';
import { toText } from '../store/text.js';
import { snapshotObject } from './snapshot.js';

/** What a `sync:state` frame carries. */
export interface Delta {
  readonly version: number;
  /** New values by key; `null` for a key that is removed, written `~`. */
  readonly delta: JsonObject;
}

export interface Versions {
  readonly version: () => number;
  readonly values: () => JsonObject;
  readonly delta: (next: JsonObject) => Delta;
  readonly applyDelta: (version: number, delta: JsonObject) => void;
  readonly applyFull: (version: number, values: JsonObject) => void;
}

export function createVersions(journal: Journal): Versions {
  const values: Collection<Json> = journal.collection('state.values');
  const meta: Collection<number> = journal.collection('state.version');
  const version = (): number => meta.get('version') ?? 0;

  function checkNoNulls(path: string, object: JsonObject): void {
    for (const [key, value] of Object.entries(object)) {
      if (value !== null) continue;
      throw new AccpError({
        code: 'E1004',
        message: 'null means that a key is removed, and cannot be the value of one',
        path: `${path}.${key}`,
        help: 'leave the key out',
      });
    }
  }

  return {
    version,
    values() {
      const all: Record<string, Json> = Object.create(null);
      for (const [key, value] of values.entries()) all[key] = value;
      return all;
    },
    delta(next) {
      const wanted = snapshotObject(next, 'values');
      checkNoNulls('values', wanted);
      const delta: Record<string, Json> = Object.create(null);
      for (const [key, value] of Object.entries(wanted)) if (!isSame(values.get(key), value)) delta[key] = value;
      for (const key of values.keys()) if (!Object.hasOwn(wanted, key)) delta[key] = null;
      return { version: version() + 1, delta };
    },
    applyDelta(given, delta) {
      if (given !== version() + 1) {
        throw new AccpError({
          code: 'E2001',
          message: `a delta to version ${given} needs version ${given - 1}, and here is version ${version()}`,
          path: 'payload.version',
          help: 'ask for the full state',
          details: { version: version() },
        });
      }
      for (const [key, value] of Object.entries(snapshotObject(delta, 'payload.delta'))) {
        if (value === null) values.delete(key);
        else values.set(key, value);
      }
      meta.set('version', given);
    },
    applyFull(given, full) {
      if (!Number.isSafeInteger(given) || given < 0) {
        throw new AccpError({ code: 'E1004', message: 'a version is a natural number', path: 'payload.version' });
      }
      const wanted = snapshotObject(full, 'values');
      checkNoNulls('values', wanted);
      for (const key of [...values.keys()]) if (!Object.hasOwn(wanted, key)) values.delete(key);
      for (const [key, value] of Object.entries(wanted)) if (!isSame(values.get(key), value)) values.set(key, value);
      meta.set('version', given);
    },
  };
}

/** Snapshots have their keys in order, so that equal values have equal texts. */
function isSame(known: Json | undefined, value: Json): boolean {
  if (known === value) return true;
  const areObjects = typeof known === 'object' && typeof value === 'object';
  return areObjects && toText(known) === toText(value);
}
