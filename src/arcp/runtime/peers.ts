/** The other runtimes of a store: what they tell this one, and what it tells them (see `mail/mail.ts`). */
import { every } from '../../async/timers.js';
import type { PayloadOf } from '../protocol/catalogue.js';
import type { Envelope } from '../protocol/envelope.js';
import { newId } from '../protocol/ids.js';
import type { JobRow, StoreChange } from '../store/store.js';
import { type RateLimit, rateLimitOf } from '../streams/writer.js';
import { JOB_OF_STREAM } from './context/stream.js';
import type { ConnectionContext, PeerLimits } from './core.js';
import type { Engine } from './engine/engine.js';
import { jobsOf } from './engine/jobs.js';
import { heartbeatOf } from './job/messages.js';
import { LEASED_STATES, specOf } from './job/spec.js';
import { type Mail, mailboxOf, mailTo } from './mail/mail.js';
import type { Presence } from './presence.js';
import { CARRIERS, epochCheck, type Session } from './sessions/session.js';

interface PeersOptions {
  readonly engine: Engine;
  readonly connections: ReadonlyMap<string, ConnectionContext>;
  readonly presence: Presence;
  readonly queues: readonly string[];
  readonly leaseMs: number;
  readonly heartbeatMs: number;
  readonly onError: (error: unknown) => void;
}

/** The backpressure of sessions, by their ids, for runtimes that open streams later. */
const BACKPRESSURE = 'backpressure';
/** The number of chunks that a job may write before it asks whether the client of another runtime has received them. */
const CHUNKS_AHEAD = 16;

interface Unread {
  chunks: number;
  /** Resolves when the client has received them; `undefined` while there are few. */
  drained: Promise<void> | undefined;
}

export class Peers implements PeerLimits {
  readonly #options: PeersOptions;
  /** The chunks for clients of other runtimes, by session, while jobs here have open streams of it. */
  readonly #unread = new Map<string, Unread>();
  /** The sessions, as their connections here hold them, with limits that other runtimes know. */
  readonly #limited = new WeakSet<Session>();
  /** The latest `drain` of each session and sender that waits for a client here. */
  readonly #draining = new Map<string, string>();
  readonly #heartbeats = new Map<string, number>();
  #stops: readonly (() => void)[] = [];

  constructor(options: PeersOptions) {
    this.#options = options;
    options.engine.mailbox.onMail((mail) => this.#handle(mail));
    options.engine.streams.onIdle((sessionId) => void this.#unread.delete(sessionId));
  }

  start(): void {
    const { engine, heartbeatMs, onError } = this.#options;
    this.#stops = [
      engine.store.watch((change) => this.#onChange(change)),
      every(heartbeatMs, () => void this.#sendHeartbeats().catch(onError)),
    ];
  }

  stop(): void {
    for (const stop of this.#stops) stop();
    this.#stops = [];
  }

  /** Resolves when the client of a session, wherever it is connected, has received the chunks so far; returns `undefined` if it may lag behind. */
  drained(sessionId: string): Promise<void> | undefined {
    const local = this.#options.connections.get(sessionId);
    if (local !== undefined) return local.subscription.caughtUp();
    const unread: Unread = this.#unread.get(sessionId) ?? { chunks: 0, drained: undefined };
    this.#unread.set(sessionId, unread);
    const isCurrent = (): boolean => this.#unread.get(sessionId) === unread;
    if (unread.drained === undefined && ++unread.chunks >= CHUNKS_AHEAD)
      unread.drained = this.#drain(sessionId, isCurrent).finally(() => {
        if (isCurrent()) this.#unread.delete(sessionId);
      });
    return unread.drained;
  }

  /** Returns the rate limit that the client of another runtime has set. */
  limitOf(sessionId: string): Promise<RateLimit | undefined> | undefined {
    return this.#options.connections.has(sessionId) ? undefined : this.#readLimit(sessionId);
  }

  async #readLimit(sessionId: string): Promise<RateLimit | undefined> {
    const record = await this.#options.engine.store.readRecord(BACKPRESSURE, sessionId);
    return record && rateLimitOf(JSON.parse(record.value) as PayloadOf<'backpressure'>);
  }

  async limit(
    { session }: ConnectionContext,
    { stream_id: streamId, payload }: Envelope<'backpressure'>,
  ): Promise<void> {
    const { engine } = this.#options;
    const { id: sessionId, principal } = session;
    const mail = { kind: 'backpressure', sessionId, principal, streamId, payload } as const;
    this.#limited.add(session);
    if (streamId === undefined) {
      const value = JSON.stringify(payload);
      await engine.log.commit({ records: [{ scope: BACKPRESSURE, key: sessionId, value, owner: sessionId }] });
      await this.#tellWorkers(sessionId, mail);
      return;
    }
    if (engine.streams.find(streamId, principal) !== undefined) return;
    const found = await engine.store.readRecord(JOB_OF_STREAM, streamId);
    const row = found && (await engine.store.readJob(found.value));
    if (row?.leaseOwner != null) await engine.mailbox.send(row.leaseOwner, mail);
  }

  /** Removes the limits that the last connection of a session has left behind, in whichever runtime it was. */
  async forgetLimits(sessionId: string): Promise<void> {
    const { store, log, streams } = this.#options.engine;
    streams.forget(sessionId);
    if ((await store.readRecord(BACKPRESSURE, sessionId)) !== undefined)
      await log.commit({ records: [{ scope: BACKPRESSURE, key: sessionId, value: null }] });
    await this.#tellWorkers(sessionId, { kind: 'disconnected', sessionId });
  }

  async unlimit(session: Session): Promise<void> {
    const { id: sessionId } = session;
    if (!this.#limited.delete(session)) return;
    const records = [epochCheck(session), { scope: BACKPRESSURE, key: sessionId, value: null }];
    // A later connection has its own limits.
    if ((await this.#options.engine.log.commit({ records })).outcome !== 'done') return;
    await this.#tellWorkers(sessionId, { kind: 'disconnected', sessionId });
  }

  async #tellWorkers(sessionId: string, mail: Mail): Promise<void> {
    const { store, log, mailbox } = this.#options.engine;
    const workers = new Set<string>();
    for await (const { leaseOwner } of jobsOf(store, { sessionId, states: LEASED_STATES }))
      if (leaseOwner !== null && leaseOwner !== mailbox.worker) workers.add(leaseOwner);
    if (workers.size > 0) await log.commit({ records: [...workers].map((worker) => mailTo(worker, mail)) });
  }

  #onChange({ sessions, queues, mailboxes }: StoreChange): void {
    const { engine, onError, queues: own } = this.#options;
    const { bus, log, mailbox, scheduler } = engine;
    const isUnknown = sessions === undefined && queues === undefined && mailboxes === undefined;
    const hasMail = mailboxes?.includes(mailboxOf(mailbox.worker)) === true;
    const reading = hasMail ? mailbox.read() : mailbox.reading;
    const announce = (): void => {
      for (const { sessionId, last } of sessions ?? []) bus.announce(sessionId, last);
    };
    // Messages were sent before the events. One of them may end the connection that would receive these.
    if (isUnknown) void log.checkExternalCommits(undefined, () => mailbox.read()).catch(onError);
    else if (reading === undefined) announce();
    else void reading.catch(hasMail ? onError : () => undefined).then(announce);
    if (isUnknown || queues?.some((queue) => own.includes(queue))) scheduler.wake();
  }

  async #handle(mail: Mail): Promise<void> {
    const { engine, connections, onError } = this.#options;
    const { scheduler, answers, streams } = engine;
    switch (mail.kind) {
      case 'job':
        scheduler.obeyOrders(mail.jobId);
        return;
      case 'answer':
        answers.notify(mail.requestId);
        return;
      case 'backpressure': {
        const { sessionId, principal, streamId, payload } = mail;
        const limit = rateLimitOf(payload);
        if (streamId === undefined) streams.limitOpen(sessionId, limit);
        else streams.limitStream(streamId, { id: sessionId, principal }, limit);
        return;
      }
      case 'disconnected':
        if (!connections.has(mail.sessionId)) streams.forget(mail.sessionId);
        return;
      case 'drain':
        void this.#reply(mail).catch(onError);
        return;
      case 'upload':
        engine.uploads.handle(mail);
        return;
      case 'replaced': {
        const connection = connections.get(mail.sessionId);
        // Other mail does not wait for the client.
        if (connection !== undefined && connection.session.epoch < mail.epoch) void connection.replace().catch(onError);
        if (!connections.has(mail.sessionId)) streams.forget(mail.sessionId);
        return;
      }
      case 'reply':
    }
  }

  /** Replies once to all questions of a runtime about a session that arrive while its client lags behind. */
  async #reply({ sessionId, replyTo, id }: Extract<Mail, { kind: 'drain' }>): Promise<void> {
    const { engine, connections } = this.#options;
    const key = `${replyTo} ${sessionId}`;
    const isRepeated = this.#draining.has(key);
    this.#draining.set(key, id);
    if (isRepeated) return;
    let latest = id;
    try {
      await engine.log.checkExternalCommits([sessionId]);
      await connections.get(sessionId)?.subscription.caughtUp();
    } finally {
      latest = this.#draining.get(key)!;
      this.#draining.delete(key);
    }
    await engine.mailbox.send(replyTo, { kind: 'reply', id: latest });
  }

  /** Waits until the client of another runtime has received all chunks, or no stream needs that any more. */
  async #drain(sessionId: string, isNeeded: () => boolean): Promise<void> {
    const { engine, presence, leaseMs } = this.#options;
    const { store, mailbox } = engine;
    while (isNeeded()) {
      const carrier = (await store.readRecord(CARRIERS, sessionId))?.value;
      if (carrier === undefined || carrier === mailbox.worker || !(await presence.has(carrier))) return;
      const id = newId('msg');
      const reply = mailbox.reply(id, leaseMs);
      await mailbox.send(carrier, { kind: 'drain', sessionId, replyTo: mailbox.worker, id });
      if ((await reply) !== undefined) return;
    }
  }

  /** Sends the heartbeats of jobs that other runtimes run to their clients here. A lease that was renewed is the sign of life. */
  async #sendHeartbeats(): Promise<void> {
    const { engine, heartbeatMs, leaseMs } = this.#options;
    const { store, bus, log, mailbox, now } = engine;
    const subscribed = new Set(bus.sessionIds);
    const isOurs = ({ leaseOwner, leaseExpiresAt, sessionId }: JobRow): boolean =>
      subscribed.has(sessionId) && leaseOwner !== mailbox.worker && (leaseExpiresAt ?? 0) > now();
    const seen = new Set<string>();
    if (subscribed.size > 0)
      for await (const row of jobsOf(store, { states: LEASED_STATES })) {
        const spec = specOf(row);
        if (!isOurs(row) || !spec.isDurable) continue;
        const sequence = this.#heartbeats.get(row.jobId) ?? 0;
        this.#heartbeats.set(row.jobId, sequence + 1);
        seen.add(row.jobId);
        const { state } = row;
        const deadlineMs = Math.max(2 * heartbeatMs, leaseMs);
        bus.publishTransient(row, heartbeatOf(log, row, spec, { sequence, state, deadlineMs }));
      }
    for (const jobId of this.#heartbeats.keys()) if (!seen.has(jobId)) this.#heartbeats.delete(jobId);
  }
}
