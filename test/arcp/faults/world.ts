/** A runtime in another process that is killed, and the invariants to check afterwards. */
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { type Client, connect } from '../../../src/arcp/client/index.js';
import { checkLog, type Envelope } from '../../../src/arcp/index.js';
import { sqliteStore } from '../../../src/arcp/runtime/index.js';
import { start } from '../../helpers/child.js';
import { PROGRAM } from '../../helpers/cli.js';

export class World {
  readonly folder = mkdtempSync(path.join(tmpdir(), 'pegwire-faults-'));
  readonly db = path.join(this.folder, 'arcp.db');
  readonly socket = path.join(this.folder, 'arcp.sock');
  /** The messages that the client received, in order. */
  readonly heard: Envelope[] = [];
  client!: Client;
  #child: ReturnType<typeof start> | undefined;
  kills = 0;

  async begin(): Promise<void> {
    await this.startRuntime();
    this.client = await connect(`unix:${this.socket}`, {
      reconnect: { minDelayMs: 20, maxDelayMs: 100 },
      timeoutMs: 60_000,
      onMessage: (message) => this.heard.push(message),
    });
  }

  async startRuntime(): Promise<void> {
    const tools = path.resolve('test/fixtures/arcp-tools.mjs');
    const args = ['arcp', 'serve', '--socket', this.socket, '--db', this.db, '--module', tools, '--lease', '400ms'];
    const child = start([...PROGRAM, ...args], { env: { EFFECTS: this.folder } });
    this.#child = child;
    let errors = '';
    child.stderr.on('data', (chunk) => (errors += chunk));
    await new Promise<void>((resolve, reject) => {
      child.stdout.once('data', () => resolve());
      child.once('close', () => reject(new Error(`The runtime has ended: ${errors}`)));
    });
  }

  /** Kills the runtime with SIGKILL, and starts another one. */
  async replaceRuntime(): Promise<void> {
    const child = this.#child!;
    const over = new Promise((resolve) => child.once('close', resolve));
    child.kill('SIGKILL');
    await over;
    this.kills++;
    await this.startRuntime();
  }

  async end(): Promise<void> {
    await this.client.disconnect();
    this.#child?.kill('SIGKILL');
    rmSync(this.folder, { recursive: true, force: true });
  }

  /** The executed effects, by key. */
  tried(): string[] {
    const file = path.join(this.folder, 'tried');
    return existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n') : [];
  }

  /** Returns the violations in stored data, messages and effects. */
  async problems(): Promise<string[]> {
    const store = await sqliteStore(this.db);
    const stored = (await store.readEvents({ limit: Number.POSITIVE_INFINITY })).map(
      ({ body }) => JSON.parse(body) as Envelope,
    );
    await store.close();
    const problems = checkLog(stored, { isComplete: true }).map(({ rule, message }) => `${rule}: ${message}`);
    const ofJobs = (messages: readonly Envelope[]): Map<string, string[]> => {
      const byJob = new Map<string, string[]>();
      for (const { job_id: jobId, id, type } of messages)
        if (jobId !== undefined && type !== 'job.heartbeat' && type !== 'ack')
          byJob.set(jobId, [...(byJob.get(jobId) ?? []), id]);
      return byJob;
    };
    const [received, all] = [ofJobs(this.heard), ofJobs(stored)];
    for (const [jobId, ids] of all) {
      const heard = received.get(jobId) ?? [];
      if (heard.length !== new Set(heard).size) problems.push(`${jobId}: a message arrived twice`);
      if (heard.join() !== ids.join())
        problems.push(`${jobId}: ${heard.length} of ${ids.length} messages arrived, or their order differs`);
    }
    return problems;
  }
}
