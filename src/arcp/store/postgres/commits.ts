/** Group commit: the commits that wait while a group is on its way become the next one. */
import { backoff } from '../../../async/timers.js';
import { isContention, isNotSent, isRefusal, postgresError } from '../../../storage/postgres/errors.js';
import { decodeText } from '../../../storage/postgres/text.js';
import { StoreError } from '../../../text/store-error.js';
import { newId } from '../../protocol/ids.js';
import type { Commit, CommitResult, EventPosition, JobRow, StoredRecord } from '../store.js';
import { encodeCommit, jobOf, type LockedRows, lockedRows, recordOf } from './rows.js';

interface Pending {
  readonly commit: Commit;
  /** The commit as JSON. */
  readonly json: string;
  readonly resolve: (result: CommitResult) => void;
  readonly reject: (error: unknown) => void;
}

/** The result of a commit as `arcp_apply` returns it. */
interface ResultJson {
  readonly outcome: CommitResult['outcome'] | 'failed';
  readonly message: string;
  readonly found: Readonly<Record<string, unknown>> | null;
}

interface GroupJson {
  readonly now: number;
  readonly results: readonly ResultJson[];
}

/** The arguments of `arcp_commit`. */
export interface Group {
  readonly writer: string;
  readonly number: number;
  /** If true, a commit with invalid values fails alone; otherwise, it fails the call. */
  readonly isApart: boolean;
  readonly locked: LockedRows;
  /** A JSON array. */
  readonly commits: string;
}

interface CommitsOptions {
  /** Calls `arcp_commit`. */
  readonly call: (group: Group) => Promise<string>;
  /** Called with the time of the database after each group. @param sentAt a monotonic time */
  readonly onTime: (now: number, sentAt: number) => void;
  readonly onDone: (commit: Commit, positions: readonly EventPosition[]) => void;
}

const MAX_GROUP = 256;
/** The length of the commits of a group, in characters, above which no more join. */
const MAX_LENGTH = 4 * 1024 * 1024;
const RETRY = { minDelayMs: 50, maxDelayMs: 1000 };

export class Commits {
  readonly #options: CommitsOptions;
  readonly #writer = newId('msg');
  #number = 0;
  #pending: Pending[] = [];
  #running: Promise<void> | undefined;
  #isClosed = false;

  constructor(options: CommitsOptions) {
    this.#options = options;
  }

  add(commit: Commit): Promise<CommitResult> {
    return new Promise((resolve, reject) => {
      this.#pending.push({ commit, json: JSON.stringify(encodeCommit(commit)), resolve, reject });
      // Commits of the same turn of the event loop form one group.
      this.#running ??= Promise.resolve().then(() => this.#run());
    });
  }

  /** Waits for the commits so far. @param isFinal if true, commits whose database cannot be reached are given up */
  async flush(isFinal: boolean): Promise<void> {
    this.#isClosed = isFinal;
    await this.#running;
  }

  async #run(): Promise<void> {
    while (this.#pending.length > 0) await this.#commitGroup(this.#takeGroup());
    this.#running = undefined;
  }

  #takeGroup(): readonly Pending[] {
    let length = 0;
    let count = 0;
    for (const { json } of this.#pending.slice(0, MAX_GROUP)) {
      length += json.length;
      if (count > 0 && length > MAX_LENGTH) break;
      count++;
    }
    return this.#pending.splice(0, count);
  }

  async #commitGroup(group: readonly Pending[]): Promise<void> {
    try {
      this.#settle(group, await this.#commit(group));
    } catch (error) {
      if (group.length > 1 && isRefusal(error as StoreError)) {
        // The database refused the group because of one of its commits, and has changed nothing.
        const half = group.length >> 1;
        await this.#commitGroup(group.slice(0, half));
        await this.#commitGroup(group.slice(half));
      } else for (const { reject } of group) reject(error);
    }
  }

  /** Commits a group. If the answer is lost, the same call is repeated, since it returns the result of the first. */
  async #commit(group: readonly Pending[]): Promise<GroupJson> {
    const call = {
      writer: this.#writer,
      number: ++this.#number,
      locked: lockedRows(group.map(({ commit }) => commit)),
      commits: `[${group.map(({ json }) => json).join()}]`,
    };
    let isUnknown = false;
    let isApart = false;
    for (let failures = 0; ; ) {
      const sentAt = performance.now();
      try {
        const result = JSON.parse(await this.#options.call({ ...call, isApart })) as GroupJson;
        // A repeated call returns the time of the first one.
        if (failures === 0) this.#options.onTime(result.now, sentAt);
        return result;
      } catch (thrown) {
        const error = postgresError(thrown);
        if (!isContention(error)) {
          if (isRefusal(error) && !isApart) {
            // Nothing was changed. The commits with valid values are applied, and the others have an error of their own.
            isApart = true;
            continue;
          }
          isUnknown ||= error.reason === 'unavailable' && !isNotSent(error);
          // Once an answer is lost, only that of a call that reaches the function tells the outcome.
          if (!isUnknown || error.reason === 'failed') throw error;
          if (this.#isClosed) throw closedUnanswered(error);
        }
        await new Promise((resolve) => setTimeout(resolve, backoff(++failures, RETRY)));
      }
    }
  }

  #settle(group: readonly Pending[], { results }: GroupJson): void {
    for (const [index, { commit, resolve, reject }] of group.entries()) {
      const { outcome, message, found, ...rest } = results[index]!;
      if (outcome === 'failed') reject(new StoreError('failed', `The commit was refused: ${message}`));
      else {
        const result = { ...decoded(rest), outcome, ...foundIn(outcome, found) } as CommitResult;
        if (result.outcome === 'done') this.#options.onDone(commit, result.positions);
        resolve(result);
      }
    }
  }
}

function closedUnanswered(cause: StoreError): StoreError {
  return new StoreError('closed', 'The store was closed before the database answered; the outcome is unknown', {
    cause,
  });
}

function decoded(fields: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  const entries = Object.entries(fields);
  return Object.fromEntries(
    entries.map(([name, value]) => [name, typeof value === 'string' ? decodeText(value) : value]),
  );
}

function foundIn(
  outcome: CommitResult['outcome'],
  found: ResultJson['found'],
): { readonly found?: JobRow | StoredRecord | undefined } {
  if (outcome === 'conflict') return { found: found === null ? undefined : recordOf(found) };
  if (outcome === 'fenced') return { found: found === null ? undefined : jobOf(found) };
  return {};
}
