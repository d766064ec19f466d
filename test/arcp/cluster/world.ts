/** Runtimes in processes of their own on one PostgreSQL database, their clients, and what must be true afterwards (spec 003, "Resumability"). */
import { type ChildProcess, spawn } from 'node:child_process';
import process from 'node:process';
import { checkLog, type Envelope } from '../../../src/arcp/index.js';
import { type ArcpStore, type PostgresClient, postgresStore } from '../../../src/arcp/store/postgres/index.js';
import type { ClientsConfig, ClientsMessage, Report } from './clients.js';
import { type Effect, monotonicMs } from './effect.js';
import type { RuntimeConfig } from './runtime.js';

/** The machine of a process. */
export interface Place {
  /** The command that starts programs there. */
  readonly prefix: readonly string[];
  readonly host: string;
}

const HERE: Place = { prefix: [], host: '127.0.0.1' };

export interface ClusterOptions {
  /** The paths of the compiled programs. */
  readonly programs: { readonly runtime: string; readonly clients: string };
  /** The database as the runtimes reach it. */
  readonly database: string;
  /** The database as the test reaches it. @default `database` */
  readonly ownDatabase?: string | PostgresClient | undefined;
  readonly schema: string;
  readonly leaseMs: number;
  readonly clients: Omit<ClientsConfig, 'host'>;
  /** @default everything is on this machine */
  readonly placeOf?: (name: string) => Place;
}

/** A fault that was made. */
interface Fault {
  readonly name: string;
  readonly runtime: string | undefined;
  /** Milliseconds of the monotonic clock. */
  readonly at: number;
}

export class Cluster {
  readonly #options: ClusterOptions;
  readonly #processes = new Map<string, ChildProcess>();
  readonly #urls: string[] = [];
  readonly effects: Effect[] = [];
  readonly #faults: Fault[] = [];
  #clients!: ChildProcess;
  #sink = '';
  #ended = 0;
  #report: Report | undefined;
  #changed: () => void = () => undefined;

  constructor(options: ClusterOptions) {
    this.#options = options;
  }

  /** Starts the service in which jobs have their effects. */
  async begin(): Promise<void> {
    const { host } = this.#place('clients');
    this.#clients = this.#spawn('clients', this.#options.programs.clients, { ...this.#options.clients, host });
    this.#clients.on('message', (message: ClientsMessage) => {
      if ('sink' in message) this.#sink = message.sink;
      else if ('effect' in message) this.effects.push(message.effect);
      else if ('ended' in message) this.#ended = message.ended;
      else this.#report = message.report;
      this.#changed();
    });
    await this.until(() => this.#sink !== '');
  }

  async startRuntime(name: string, options: Partial<RuntimeConfig> = {}): Promise<void> {
    const { database, schema, leaseMs, programs } = this.#options;
    const config: RuntimeConfig = {
      ...{ name, database, schema, leaseMs, sink: this.#sink, host: this.#place(name).host, skewMs: 0 },
      ...options,
    };
    const child = this.#spawn(name, programs.runtime, config);
    const url = await new Promise<string>((resolve, reject) => {
      child.once('message', (message) => resolve(String(message)));
      child.once('close', (code) => reject(new Error(`The runtime ${name} has ended with ${code}`)));
    });
    this.#urls.push(url);
  }

  /** Lets the clients begin, with the runtimes so far. */
  startClients(): void {
    this.#clients.send(this.#urls);
  }

  /** Lets the clients end after the jobs so far. */
  stopClients(): void {
    this.#clients.send('stop');
  }

  /** The number of jobs that have ended. */
  get ended(): number {
    return this.#ended;
  }

  /** Sends a signal to a runtime. */
  signal(runtime: string, signal: NodeJS.Signals): void {
    this.#processes.get(runtime)!.kill(signal);
  }

  /** Notes a fault, after which effects may be repeated. */
  async fault(name: string, runtime: string | undefined, make: () => void | Promise<void>): Promise<void> {
    this.#faults.push({ name, runtime, at: monotonicMs() });
    await make();
  }

  /** Waits for a state of the effects and ends so far. */
  async until(isSo: () => boolean): Promise<void> {
    while (!isSo()) {
      await new Promise<void>((resolve) => {
        this.#changed = resolve;
        setTimeout(resolve, 100);
      });
      if (this.#clients.exitCode !== null) throw new Error('The clients have ended');
    }
  }

  /** Waits until the clients have everything. @returns the violations */
  async problems(): Promise<string[]> {
    await this.until(() => this.#report !== undefined);
    const { ownDatabase = this.#options.database, schema, clients } = this.#options;
    const store = await postgresStore(ownDatabase, { schema });
    try {
      const { heard, effects, outcomes, started } = this.#report!;
      const ended = outcomes.filter((outcome) => outcome === 'done').length;
      return [
        ...(ended === started ? [] : [`${ended} of ${started} jobs are done: ${[...new Set(outcomes)].join(', ')}`]),
        ...(heard.length === clients.clients ? [] : [`${clients.clients - heard.length} clients still wait`]),
        ...(await this.#logProblems(store)),
        ...(await messageProblems(store, heard)),
        ...this.#effectProblems(effects),
      ];
    } finally {
      await store.close();
    }
  }

  /** Returns the time from each kill to the first effect of the last job that continued elsewhere, in milliseconds. */
  takeovers(): readonly number[] {
    return this.#faults
      .filter(({ name }) => name === 'kill')
      .map(({ at, runtime }) => {
        const before = this.effects.filter((effect) => effect.runtime === runtime && effect.at < at);
        const firsts = [...new Set(before.map(({ jobId }) => jobId))].flatMap((jobId) => {
          const last = Math.max(...before.filter((effect) => effect.jobId === jobId).map(({ attempt }) => attempt));
          const next = this.effects.find((effect) => effect.jobId === jobId && effect.attempt > last && effect.at > at);
          return next === undefined ? [] : [next.at - at];
        });
        return Math.max(0, ...firsts);
      });
  }

  end(): void {
    for (const child of this.#processes.values()) {
      child.removeAllListeners('close');
      child.kill('SIGKILL');
    }
  }

  async #logProblems(store: ArcpStore): Promise<string[]> {
    const events = await store.readEvents({ limit: Number.POSITIVE_INFINITY });
    const log = events.map(({ body }) => JSON.parse(body) as Envelope);
    return checkLog(log, { isComplete: true }).map(({ rule, message }) => `${rule}: ${message}`);
  }

  #effectProblems(effects: readonly Effect[]): string[] {
    const problems: string[] = [];
    for (const [operation, all] of groupBy(effects, (effect) => effect.operation))
      if (all.length > 1 + this.#faults.length) problems.push(`${operation} had ${all.length} effects`);
    for (const [jobId, all] of groupBy(effects, (effect) => effect.jobId)) {
      const ends = new Map<number, number>();
      for (const { attempt, at } of all.toReversed()) ends.set(attempt, Math.min(at, ends.get(attempt) ?? at));
      for (const [attempt, begun] of ends) {
        const late = all.filter(
          (effect) => effect.attempt < attempt && effect.at > begun + this.#options.leaseMs + 1000,
        );
        // One may have been on its way when its process was stopped.
        if (late.length > 1)
          problems.push(`${jobId} had ${late.length} effects of earlier attempts beside attempt ${attempt}`);
      }
    }
    // Without a fault, nothing is repeated and no job has a second attempt.
    if (this.#faults.length === 0 && effects.some(({ attempt }) => attempt > 1))
      problems.push('a job was started twice');
    return problems;
  }

  #place(name: string): Place {
    return this.#options.placeOf?.(name) ?? HERE;
  }

  #spawn(name: string, program: string, config: object): ChildProcess {
    const [command, ...args] = [...this.#place(name).prefix, process.execPath, program, JSON.stringify(config)];
    const child = spawn(command!, args, { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
    this.#processes.set(name, child);
    return child;
  }
}

/** Compares what clients received with what was stored for them. */
async function messageProblems(store: ArcpStore, heard: Report['heard']): Promise<string[]> {
  const problems: string[] = [];
  for (const { sessionId, messages } of heard) {
    const stored = (await store.readEvents({ sessionId, limit: Number.POSITIVE_INFINITY })).map(({ id }) => id);
    const known = new Set(stored);
    const received = messages.filter((id) => known.has(id));
    const repeated = received.length - new Set(received).size;
    if (repeated > 0) problems.push(`${sessionId}: ${repeated} messages arrived twice`);
    const missed = stored.length - new Set(received).size;
    if (missed > 0) problems.push(`${sessionId}: ${missed} of ${stored.length} messages are missing`);
    if (repeated + missed === 0 && received.join() !== stored.join()) problems.push(`${sessionId}: the order differs`);
  }
  return problems;
}

function groupBy<T>(all: readonly T[], keyOf: (one: T) => string): Map<string, T[]> {
  const groups = new Map<string, T[]>();
  for (const one of all) groups.set(keyOf(one), [...(groups.get(keyOf(one)) ?? []), one]);
  return groups;
}
