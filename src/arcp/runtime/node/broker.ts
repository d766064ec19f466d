// biome-ignore-all lint/correctness/noNodejsModules: files and programs are of Node
/** Files, the network and programs for tools, behind permissions (spec 003, "Permissions": "Runtimes SHOULD restrict network access"). */
import { spawn } from 'node:child_process';
import { mkdir, readdir, readFile, realpath, rm, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import process from 'node:process';
import { linkSignals } from '../../../async/abort.js';
import { systemReason } from '../../../text/system-reason.js';
import { ArcpError } from '../../protocol/errors.js';
import type { JobContext, Lease } from '../types.js';

export interface BrokerOptions {
  /** The folder of files; links do not lead out of it. Without it there are no files. */
  readonly root?: string | undefined;
  /** Allowed hosts: `api.example.org`, `*.example.org`, with a non-standard port. @default none */
  readonly hosts?: readonly string[] | undefined;
  /** Allowed programs by name: `{ git: '/usr/bin/git' }`. @default none */
  readonly programs?: Readonly<Record<string, string>> | undefined;
  /** Environment variables of programs. @default PATH, LANG */
  readonly env?: readonly string[] | undefined;
  /** Limit of a file, a response or an output in bytes. @default 16 MiB */
  readonly maxBytes?: number | undefined;
}

/** The services for a tool. Each call requests its permission and reports the use. */
export interface BrokerServices {
  readonly fs: BrokerFiles;
  /** Permission `network.fetch` on the address without query. Redirections stay on allowed hosts, each with its own permission. */
  readonly fetch: (url: string | URL, init?: RequestInit) => Promise<Response>;
  /** Permission `shell.execute` on `program:NAME`, without a shell. */
  readonly exec: (program: string, args?: readonly string[], options?: ExecOptions) => Promise<ExecResult>;
}

export interface BrokerFiles {
  /** Permission `filesystem.read` on `file:PATH` within the root. */
  readonly readFile: (file: string) => Promise<string>;
  readonly list: (folder: string) => Promise<readonly string[]>;
  /** Permission `filesystem.write`. Creates missing folders. */
  readonly writeFile: (file: string, text: string) => Promise<void>;
  /** Permission `filesystem.delete`. */
  readonly remove: (file: string) => Promise<void>;
}

export interface ExecOptions {
  readonly input?: string | undefined;
  /** A folder within the root. @default the root */
  readonly cwd?: string | undefined;
}

export interface ExecResult {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

const MAX_BYTES = 16 * 1024 * 1024;
const MAX_REDIRECTS = 5;

/**
 * Makes a broker. Tools that use nothing else stay within its bounds; it does not keep others from reaching around it, since they run in
 * the same process.
 *
 * @example
 * const broker = createBroker({ root: '/srv/repo' });
 * runtime.tool('fix', { durable: true, permissions: ['filesystem.*'] }, async (_, context) => {
 *   const { fs } = broker(context);
 *   await fs.writeFile('a.txt', (await fs.readFile('a.txt')).trim());
 * });
 */
export function createBroker(options: BrokerOptions): (context: JobContext) => BrokerServices {
  return (context) => {
    const broker = new Broker(options, context);
    return { fs: broker, fetch: broker.fetch, exec: broker.exec };
  };
}

class Broker implements BrokerFiles {
  readonly #options: BrokerOptions;
  readonly #context: JobContext;
  readonly #maxBytes: number;

  constructor(options: BrokerOptions, context: JobContext) {
    this.#options = options;
    this.#context = context;
    this.#maxBytes = options.maxBytes ?? MAX_BYTES;
  }

  readonly readFile = async (file: string): Promise<string> => {
    const place = await this.#allowed('filesystem.read', file, 'read');
    // Avoids reading a file that is too large.
    this.#assertSize((await attempted(() => stat(place))).size, file);
    const bytes = await attempted(() => readFile(place));
    this.#assertSize(bytes.length, file);
    return bytes.toString('utf8');
  };

  readonly list = async (folder: string): Promise<readonly string[]> => {
    const place = await this.#allowed('filesystem.read', folder, 'list');
    return (await attempted(() => readdir(place))).toSorted();
  };

  readonly writeFile = async (file: string, text: string): Promise<void> => {
    this.#assertSize(Buffer.byteLength(text), file);
    const place = await this.#allowed('filesystem.write', file, 'write');
    await attempted(() => mkdir(path.dirname(place), { recursive: true }));
    // A new folder may have been replaced by a link.
    await attempted(async () => writeFile(await this.#within(file), text));
  };

  readonly remove = async (file: string): Promise<void> => {
    const place = await this.#allowed('filesystem.delete', file, 'delete');
    await attempted(() => rm(place));
  };

  readonly fetch = async (url: string | URL, init: RequestInit = {}): Promise<Response> => {
    let target = new URL(url);
    for (let hops = 0; ; hops++) {
      this.#assertHost(target);
      const lease = await this.#ask(
        'network.fetch',
        `${target.origin}${target.pathname}`,
        (init.method ?? 'GET').toUpperCase(),
      );
      await lease.use();
      const { signal: own } = this.#context;
      const signal = init.signal ? linkSignals(own, init.signal).signal : own;
      const response = await fetch(target, { ...init, redirect: 'manual', signal });
      const next = response.headers.get('location');
      if (response.status < 300 || response.status > 399 || next === null) return this.#bounded(response);
      await response.body?.cancel();
      if (hops === MAX_REDIRECTS) throw new ArcpError('UNAVAILABLE', `${url} is redirected too often`);
      if ((init.method ?? 'GET').toUpperCase() !== 'GET')
        throw new ArcpError('FAILED_PRECONDITION', `${target.origin} redirects what is no GET`);
      target = new URL(next, target);
    }
  };

  readonly exec = async (
    program: string,
    args: readonly string[] = [],
    options: ExecOptions = {},
  ): Promise<ExecResult> => {
    const { programs = {}, root } = this.#options;
    const file = Object.hasOwn(programs, program) ? programs[program] : undefined;
    if (file === undefined) throw refused(`The program ${program} is none that may be started`);
    const cwd = root === undefined ? undefined : await this.#within(options.cwd ?? '.');
    const lease = await this.#ask('shell.execute', `program:${program}`, 'execute', { arguments: [...args] });
    await lease.use();
    return this.#run(file, args, cwd, options.input);
  };

  #run(file: string, args: readonly string[], cwd: string | undefined, input = ''): Promise<ExecResult> {
    const { env: names = ['PATH', 'LANG'] } = this.#options;
    const env = environmentOf(names);
    const { signal } = this.#context;
    return new Promise((resolve, reject) => {
      const child = spawn(file, args, { cwd, env, signal, shell: false, killSignal: 'SIGKILL' });
      const [stdout, stderr]: [Buffer[], Buffer[]] = [[], []];
      let left = this.#maxBytes;
      for (const [stream, pieces] of [
        [child.stdout, stdout],
        [child.stderr, stderr],
      ] as const)
        stream.on('data', (piece: Buffer) => {
          left -= piece.length;
          if (left >= 0) pieces.push(piece);
          else child.kill('SIGKILL');
        });
      child.on('error', (error) =>
        reject(
          signal.aborted
            ? signal.reason
            : new ArcpError('UNAVAILABLE', `${file}: ${systemReason(error)}`, { cause: error }),
        ),
      );
      child.on('close', (code) => {
        if (left < 0) reject(new ArcpError('PAYLOAD_TOO_LARGE', `${file} says more than ${this.#maxBytes} bytes`));
        else
          resolve({ code: code ?? -1, stdout: String(Buffer.concat(stdout)), stderr: String(Buffer.concat(stderr)) });
      });
      // A program may close its input early.
      child.stdin.on('error', () => {});
      child.stdin.end(input);
    });
  }

  async #allowed(permission: string, file: string, operation: string): Promise<string> {
    const before = await this.#within(file);
    const lease = await this.#ask(permission, `file:${this.#shown(before)}`, operation);
    await lease.use();
    // A link may have appeared while the request waited.
    const place = await this.#within(file);
    if (place !== before) throw refused(`${file} leads elsewhere now`);
    return place;
  }

  #ask(permission: string, resource: string, operation: string, preview?: unknown): Promise<Lease> {
    return this.#context.permission({ permission, resource, operation, preview });
  }

  /** Resolves all links of a path, which need not exist. */
  async #within(file: string): Promise<string> {
    if (this.#options.root === undefined) throw refused('There are no files here');
    const root = await realpath(this.#options.root);
    let existing = path.resolve(root, file);
    const missing: string[] = [];
    for (;;) {
      try {
        existing = await realpath(existing);
        break;
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw refused(`${file} cannot be reached`);
        missing.unshift(path.basename(existing));
        existing = path.dirname(existing);
      }
    }
    const place = path.join(existing, ...missing);
    if (place !== root && !place.startsWith(root + path.sep))
      throw refused(`${file} is outside of what may be reached`);
    return place;
  }

  #shown(place: string): string {
    return path.relative(path.resolve(this.#options.root!), place).split(path.sep).join('/') || '.';
  }

  #assertHost({ protocol, host, hostname }: URL): void {
    const { hosts = [] } = this.#options;
    const isOne = hosts.some(
      (one) => one === host || (one.startsWith('*.') && hostname === host && hostname.endsWith(one.slice(1))),
    );
    if ((protocol !== 'https:' && protocol !== 'http:') || !isOne)
      throw refused(`${host} is no host that may be asked`);
  }

  #assertSize(bytes: number, what: string): void {
    if (bytes > this.#maxBytes)
      throw new ArcpError('PAYLOAD_TOO_LARGE', `${what} has more than ${this.#maxBytes} bytes`);
  }

  /** Fails a response that is too long while it is read. */
  #bounded(response: Response): Response {
    let left = this.#maxBytes;
    const bound = new TransformStream<Uint8Array, Uint8Array>({
      transform: (piece, controller) => {
        left -= piece.length;
        if (left < 0)
          controller.error(new ArcpError('PAYLOAD_TOO_LARGE', `The response has more than ${this.#maxBytes} bytes`));
        else controller.enqueue(piece);
      },
    });
    return new Response(response.body?.pipeThrough(bound) ?? null, response);
  }
}

export function environmentOf(names: readonly string[]): NodeJS.ProcessEnv {
  return Object.fromEntries(
    names.flatMap((name) => (process.env[name] === undefined ? [] : [[name, process.env[name]]])),
  );
}

function refused(why: string): ArcpError {
  return new ArcpError('PERMISSION_DENIED', why);
}

/** Converts errors of the operating system. */
async function attempted<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (thrown) {
    if (thrown instanceof ArcpError) throw thrown;
    const { code, message } = thrown as NodeJS.ErrnoException;
    throw new ArcpError(code === 'ENOENT' ? 'NOT_FOUND' : 'FAILED_PRECONDITION', message, { cause: thrown });
  }
}
