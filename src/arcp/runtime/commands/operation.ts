/**
 * Operations that are carried out once, whoever asks for them and by however many commands (spec 003, "Delivery Semantics": "idempotent
 * tools with explicit operation keys").
 */
import { sha256Hex } from '../../../text/sha256.js';
import { ArcpError } from '../../protocol/errors.js';
import { canonicalJson } from '../../protocol/kept-json.js';
import type { ArcpStore, JobRow, RecordChange, StoredRecord } from '../../store/store.js';
import { inputOf } from '../jobs/input.js';
import { type JobSpec, specOf, statusOf } from '../jobs/spec.js';

/** What is kept of an operation. */
interface KeptOperation {
  readonly digest: string;
  readonly jobId: string;
}

/** An operation that somebody has asked for before. */
export interface Former {
  readonly row: JobRow;
  readonly spec: JobSpec;
}

/** The key of one call among those of a principal: of two calls with the same one, only one is carried out. */
export class Operation {
  readonly #scope: string;
  readonly #key: string;
  readonly #digest: string;

  private constructor(scope: string, key: string, digest: string) {
    this.#scope = scope;
    this.#key = key;
    this.#digest = digest;
  }

  /** @returns `undefined` for a command without a key */
  static of(principal: string, { command, kind, target, isDurable }: JobSpec): Operation | undefined {
    const key = command.payload.operation_key ?? (command as { readonly idempotency_key?: unknown }).idempotency_key;
    if (typeof key !== 'string') return undefined;
    const text = canonicalJson([isDurable, inputOf(command)]);
    return new Operation(`operation:${principal}:${kind}:${target}`, key, sha256Hex(text));
  }

  /** @param former what was found in its place, where that does not count any more */
  record(jobId: string, former?: StoredRecord): RecordChange {
    const kept: KeptOperation = { digest: this.#digest, jobId };
    const value = JSON.stringify(kept);
    return { scope: this.#scope, key: this.#key, value, expect: former?.version ?? 0, owner: jobId };
  }

  /** Whether the conflict is about its record. */
  isAt(scope: string): boolean {
    return scope === this.#scope;
  }

  find(store: ArcpStore): Promise<StoredRecord | undefined> {
    return store.readRecord(this.#scope, this.#key);
  }

  /**
   * The work that was begun under the key.
   *
   * @returns `undefined` where it may be begun anew: it failed with what may pass, or nothing is kept of it any more
   * @throws ArcpError `ALREADY_EXISTS` when that was another call
   */
  async former(store: ArcpStore, { value }: StoredRecord): Promise<Former | undefined> {
    const { digest, jobId } = JSON.parse(value) as KeptOperation;
    if (digest !== this.#digest)
      throw new ArcpError('ALREADY_EXISTS', `The operation key ${JSON.stringify(this.#key)} stands for another call`);
    const row = await store.readJob(jobId);
    if (row === undefined) return undefined;
    if (row.state === 'failed' && statusOf(row).lastError?.retryable === true) return undefined;
    return { row, spec: specOf(row) };
  }
}
