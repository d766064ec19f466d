/** The stage of the scenarios: a runtime, a client, a record of their messages, and printing. */
import process from 'node:process';
import { pathToFileURL } from 'node:url';
import { openClient } from '../../../src/arcp/client/portable.js';
import type { Client, ClientOptions, Dial } from '../../../src/arcp/client/types.js';
import { type Envelope, ExecutionGraph, treeText } from '../../../src/arcp/index.js';
import { createRuntime, memoryStore, type Runtime, type RuntimeOptions } from '../../../src/arcp/runtime/portable.js';
import type { Channel } from '../../../src/channels/channel.js';
import { memoryChannels } from '../../../src/channels/memory.js';
import { lineOf } from '../../../src/cli/commands/arcp/lines.js';

export interface Scenario {
  readonly title: string;
  /** One or two sentences. */
  readonly story: string;
  /** Registers tools, agents and workflows; called again for a runtime that replaces a crashed one. */
  readonly setUp: (runtime: Runtime) => void;
  readonly play: (stage: Stage) => Promise<void>;
}

/** Serves a runtime, and returns how clients reach it. */
export type Serve = (runtime: Runtime) => Promise<{ readonly dial: Dial; readonly close: () => Promise<unknown> }>;

/** Serves a runtime in this process. */
const serveInMemory: Serve = async (runtime) => {
  const dial = (): Channel => {
    const [here, there] = memoryChannels();
    void runtime.accept(there);
    return here;
  };
  return { dial, close: async () => {} };
};

/** Prints a line. */
export type Tell = (line: string) => void;

export class Stage {
  /** The messages of both sides, as seen by the client. */
  readonly log: Envelope[] = [];
  readonly #store = memoryStore();
  readonly #scenario: Scenario;
  readonly #tell: Tell;
  readonly #serve: Serve;
  #runtime: Runtime | undefined;
  #served: ReturnType<Serve> | undefined;
  /** Resolves when the client has resumed its session; jobs continue then, so that their messages have the same order each time. */
  #isResumed: Promise<void> | undefined;
  #onResumed = (): void => {};
  #killed: AbortController | undefined;
  #resumeId: string | undefined;
  /** Connections that wait for the next runtime. */
  #waiting: (() => void)[] = [];
  #clients: Client[] = [];
  /** Waits for the next message. */
  #listening: (() => void)[] = [];

  constructor(scenario: Scenario, tell: Tell, serve: Serve) {
    this.#scenario = scenario;
    this.#tell = tell;
    this.#serve = serve;
    this.startRuntime();
  }

  /** Prints a line of the story. */
  readonly say = (line: string): void => this.#tell(`— ${line}`);

  startRuntime(options: RuntimeOptions = {}): void {
    const killed = new AbortController();
    this.#killed = killed;
    const claimJobs: ReturnType<typeof memoryStore>['claimJobs'] = async (claim) => {
      await this.#isResumed;
      return killed.signal.aborted ? [] : this.#store.claimJobs(claim);
    };
    // The store outlives the runtime, like a file.
    const store = { ...this.#store, durable: true, claimJobs, close: async () => {} };
    this.#runtime = createRuntime({ store, workers: { leaseMs: 300 }, ...options });
    this.#scenario.setUp(this.#runtime);
    this.#served = this.#serve(this.#runtime);
    for (const go of this.#waiting.splice(0)) go();
  }

  /** Crashes the runtime with its running jobs. */
  async killRuntime(): Promise<void> {
    const [runtime, served] = [this.#runtime!, await this.#served!];
    this.#runtime = undefined;
    this.#killed?.abort();
    this.#isResumed = new Promise((resolve) => {
      this.#onResumed = resolve;
    });
    const closed = served.close();
    await runtime.close();
    await closed;
  }

  async connect(options: ClientOptions = {}): Promise<Client> {
    const client = await openClient(() => this.#dial(), { reconnect: { minDelayMs: 1, maxDelayMs: 1 }, ...options });
    this.#clients.push(client);
    return client;
  }

  /** Resolves when the command that was sent last has its answer, so that the next one comes after it over every transport. */
  async answered(): Promise<void> {
    const last = this.log.findLast(({ source }) => source === 'client')!;
    while (!this.log.some(({ correlation_id }) => correlation_id === last.id))
      await new Promise<void>((resolve) => this.#listening.push(resolve));
  }

  async end(): Promise<void> {
    for (const client of this.#clients) await client.disconnect();
    if (this.#runtime !== undefined) await this.killRuntime();
  }

  async #dial(): Promise<Channel> {
    while (this.#runtime === undefined) await new Promise<void>((resolve) => this.#waiting.push(resolve));
    const here = await (await this.#served!).dial();
    return {
      ...here,
      send: (text) => {
        this.#heard(text);
        here.send(text);
      },
      start: (receiver) =>
        here.start({
          ...receiver,
          text: (text) => {
            this.#heard(text);
            receiver.text(text);
          },
        }),
    };
  }

  #heard(text: string): void {
    const message = JSON.parse(text) as Envelope;
    this.log.push(message);
    if (message.type === 'resume') this.#resumeId = message.id;
    if (message.correlation_id !== undefined && message.correlation_id === this.#resumeId) this.#onResumed();
    for (const go of this.#listening.splice(0)) go();
    const line = lineOf(message, (_style, what) => what);
    if (line !== undefined) this.#tell(`   ${line.replace(/^\S+ /, '')}`);
  }
}

/** Runs a scenario, and returns its messages. */
export async function perform(
  scenario: Scenario,
  tell: Tell = () => {},
  serve: Serve = serveInMemory,
): Promise<readonly Envelope[]> {
  const stage = new Stage(scenario, tell, serve);
  try {
    await scenario.play(stage);
    return stage.log;
  } finally {
    await stage.end();
  }
}

const KINDS = /\b(?:(msg|sess|job|str|chk|lease|worker)_[0-9A-Z]{26}|[0-9a-f]{32}|[0-9a-f]{16})\b/g;
const TIMES = /"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z"/g;
const START = Date.parse('2026-05-07T21:30:00Z');

/** Normalizes messages, so that each run has the same: ids by their order, one second between times, and no secrets or durations. */
export function transcript(log: readonly Envelope[]): string {
  const ids = new Map<string, string>();
  const counts = new Map<string, number>();
  const idOf = (id: string, kind = id.length === 32 ? 'trace' : 'span'): string => {
    const known = ids.get(id);
    if (known !== undefined) return known;
    const count = (counts.get(kind) ?? 0) + 1;
    counts.set(kind, count);
    ids.set(id, `${kind}_${String(count).padStart(4, '0')}`);
    return ids.get(id)!;
  };
  const lines = new Map<string, string>();
  for (const [at, message] of log.entries()) {
    // Replayed messages are unchanged.
    if (lines.has(message.id)) continue;
    const text = JSON.stringify(message, (key, value: unknown) =>
      key === 'duration_ms' ? 0 : key === 'resume_token' ? 'secret' : value,
    );
    const time = JSON.stringify(new Date(START + at * 1000).toISOString());
    lines.set(message.id, text.replace(KINDS, idOf).replace(TIMES, time));
  }
  return log.map(({ id }) => `${lines.get(id)}\n`).join('');
}

/** Runs a scenario as a program; with `--jsonl`, prints its messages to stdout instead. */
export async function run(scenario: Scenario, url: string): Promise<void> {
  if (pathToFileURL(process.argv[1] ?? '').href !== url) return;
  if (process.argv.includes('--jsonl')) {
    process.stdout.write(transcript(await perform(scenario)));
    return;
  }
  const tell = (line: string): void => console.log(line);
  tell(`${scenario.title}\n\n${scenario.story}\n`);
  const log = await perform(scenario, tell);
  tell(`\n${treeText(ExecutionGraph.from(log))}`);
}
