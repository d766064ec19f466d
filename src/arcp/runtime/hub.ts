/** Who is told of what was committed. */
import type { StoredEvent } from '../store/store.js';

/** Somebody who follows a session, and some jobs of other sessions. */
export interface Follower {
  /** An event that was just committed, and that belongs to what is followed. In the order of the commits. */
  readonly told: (event: StoredEvent) => void;
  /** Something that is not kept: a heartbeat. */
  readonly whispered: (body: string) => void;
  /** Somebody else has committed to the same store: what it was stands there. */
  readonly disturbed: () => void;
}

export class Hub {
  readonly #bySession = new Map<string, Set<Follower>>();
  readonly #byJob = new Map<string, Set<Follower>>();

  followSession(sessionId: string, follower: Follower): void {
    add(this.#bySession, sessionId, follower);
  }

  followJob(jobId: string, follower: Follower): void {
    add(this.#byJob, jobId, follower);
  }

  leaveSession(sessionId: string, follower: Follower): void {
    remove(this.#bySession, sessionId, follower);
  }

  leaveJob(jobId: string, follower: Follower): void {
    remove(this.#byJob, jobId, follower);
  }

  publish(event: StoredEvent): void {
    for (const follower of this.#followers(event)) follower.told(event);
  }

  /** Another runtime has committed something. */
  disturb(): void {
    const all = [...this.#bySession.values(), ...this.#byJob.values()].flatMap((followers) => [...followers]);
    for (const follower of new Set(all)) follower.disturbed();
  }

  /** To whoever follows the job now; nobody else will ever know. */
  whisper(to: { readonly sessionId: string; readonly jobId: string }, body: string): void {
    for (const follower of this.#followers(to)) follower.whispered(body);
  }

  #followers({
    sessionId,
    jobId,
  }: {
    readonly sessionId: string;
    readonly jobId?: string | undefined;
  }): Iterable<Follower> {
    const ofSession = this.#bySession.get(sessionId);
    const ofJob = jobId === undefined ? undefined : this.#byJob.get(jobId);
    if (ofJob === undefined) return ofSession ?? [];
    return ofSession === undefined ? ofJob : new Set([...ofSession, ...ofJob]);
  }
}

function add(index: Map<string, Set<Follower>>, key: string, follower: Follower): void {
  const followers = index.get(key);
  if (followers === undefined) index.set(key, new Set([follower]));
  else followers.add(follower);
}

function remove(index: Map<string, Set<Follower>>, key: string, follower: Follower): void {
  const followers = index.get(key);
  if (followers?.delete(follower) === true && followers.size === 0) index.delete(key);
}
