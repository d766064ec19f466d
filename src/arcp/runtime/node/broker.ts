// biome-ignore-all lint/correctness/noNodejsModules: files and programs need Node
/** Access of tools to files, the network and programs, by permissions (spec 003, "Permissions": "Runtimes SHOULD restrict network access"). */
import { spawn } from 'node:child_process';
import { mkdir, readdir, readFile, realpath, rm, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import process from 'node:process';
import { abortableBody, linkSignals } from '../../../async/abort.js';
import { systemReason } from '../../../text/system-reason.js';
import { ArcpError } from '../../protocol/errors.js';
import type { JobContext, Lease } from '../types.js';

/** Options of a broker. */
export interface BrokerOptions {
  /** The folder of the files; symbolic links cannot lead out of it. @default none; all file access is denied */
  readonly root?: string | undefined;
  /** The allowed hosts: `api.example.org`, `*.example.org`; a non-standard port is part of the name. @default none */
  readonly hosts?: readonly string[] | undefined;
  /** The allowed programs by name: `{ git: '/usr/bin/git' }`. @default none */
  readonly programs?: Readonly<Record<string, string>> | undefined;
  /** The names of the environment variables that programs receive. @default ['PATH', 'LANG'] */
  readonly env?: readonly string[] | undefined;
  /** The largest file, response or output in bytes. @default 16777216 (16 MiB) */
  readonly maxBytes?: number | undefined;
}

/** The services of a broker for one job. Each call requests its permission and counts the use. Calls throw `PERMISSION_DENIED`. */
export interface BrokerServices {
  /** Files in the root folder. */
  readonly fs: BrokerFiles;
  /** Sends a request, with permission `network.fetch` for the URL without query. Each redirect must be to an allowed host, and needs permission. */
  readonly fetch: (url: string | URL, init?: RequestInit) => Promise<Response>;
  /** Runs a program without a shell, with permission `shell.execute` for `program:NAME`. */
  readonly exec: (program: string, args?: readonly string[], options?: ExecOptions) => Promise<ExecResult>;
}

/** Files of a broker. Paths are relative to its root; the resource of each permission is `file:PATH`. */
export interface BrokerFiles {
  /** Reads a UTF-8 text, with permission `filesystem.read`. */
  readonly readFile: (file: string) => Promise<string>;
  /** Returns the sorted names in a folder, with permission `filesystem.read`. */
  readonly list: (folder: string) => Promise<readonly string[]>;
  /** Writes a text and creates missing folders, with permission `filesystem.write`. */
  readonly writeFile: (file: string, text: string) => Promise<void>;
  /** Deletes a file, with permission `filesystem.delete`. */
  readonly remove: (file: string) => Promise<void>;
}

/** Options of a program. */
export interface ExecOptions {
  /** The standard input. @default empty */
  readonly input?: string | undefined;
  /** The working folder, relative to the root. @default the root */
  readonly cwd?: string | undefined;
}

/** The result of a program. */
export interface ExecResult {
  /** The exit code; -1 if a signal ended the program. */
  readonly code: number;
  /** The standard output, as text. */
  readonly stdout: string;
  /** The standard error output. */
  readonly stderr: string;
}

const MAX_BYTES = 16 * 1024 * 1024;
const MAX_REDIRECTS = 5;

/**
 * Creates a broker, which gives tools access to files, hosts and programs by permissions. It does not isolate tools: they run in the same
 * process and could bypass it. Use `sandboxed` for tools that you do not trust.
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
    const resolved = await this.#authorize('filesystem.read', file, 'read');
    // Checked first, so that a file that is too large is not read.
    this.#assertSize((await convertErrors(() => stat(resolved))).size, file);
    const bytes = await convertErrors(() => readFile(resolved));
    this.#assertSize(bytes.length, file);
    return bytes.toString('utf8');
  };

  readonly list = async (folder: string): Promise<readonly string[]> => {
    const resolved = await this.#authorize('filesystem.read', folder, 'list');
    return (await convertErrors(() => readdir(resolved))).toSorted();
  };

  readonly writeFile = async (file: string, text: string): Promise<void> => {
    this.#assertSize(Buffer.byteLength(text), file);
    const resolved = await this.#authorize('filesystem.write', file, 'write');
    await convertErrors(() => mkdir(path.dirname(resolved), { recursive: true }));
    // Checked again, since a new folder may have been replaced by a link.
    await convertErrors(async () => writeFile(await this.#resolve(file), text));
  };

  readonly remove = async (file: string): Promise<void> => {
    const resolved = await this.#authorize('filesystem.delete', file, 'delete');
    await convertErrors(() => rm(resolved));
  };

  readonly fetch = async (url: string | URL, init: RequestInit = {}): Promise<Response> => {
    let target = new URL(url);
    for (let hops = 0; ; hops++) {
      this.#assertHost(target);
      const lease = await this.#request(
        'network.fetch',
        `${target.origin}${target.pathname}`,
        (init.method ?? 'GET').toUpperCase(),
      );
      await lease.use();
      const { signal: own } = this.#context;
      const signal = init.signal ? linkSignals(own, init.signal).signal : own;
      const response = await fetch(target, { ...init, redirect: 'manual', signal });
      const next = response.headers.get('location');
      if (response.status < 300 || response.status > 399 || next === null) return this.#bounded(response, signal);
      await response.body?.cancel();
      if (hops === MAX_REDIRECTS)
        throw new ArcpError('UNAVAILABLE', `${url} redirects more than ${MAX_REDIRECTS} times`);
      if ((init.method ?? 'GET').toUpperCase() !== 'GET')
        throw new ArcpError('FAILED_PRECONDITION', `${target.origin} redirects a request that is not a GET`);
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
    if (file === undefined) throw refused(`The program ${program} is not allowed; list it in programs`);
    const cwd = root === undefined ? undefined : await this.#resolve(options.cwd ?? '.');
    const lease = await this.#request('shell.execute', `program:${program}`, 'execute', { arguments: [...args] });
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
      let remaining = this.#maxBytes;
      for (const [stream, pieces] of [
        [child.stdout, stdout],
        [child.stderr, stderr],
      ] as const)
        stream.on('data', (piece: Buffer) => {
          remaining -= piece.length;
          if (remaining >= 0) pieces.push(piece);
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
        if (remaining < 0)
          reject(new ArcpError('PAYLOAD_TOO_LARGE', `The output of ${file} is larger than ${this.#maxBytes} bytes`));
        else
          resolve({ code: code ?? -1, stdout: String(Buffer.concat(stdout)), stderr: String(Buffer.concat(stderr)) });
      });
      // A program may close its input early.
      child.stdin.on('error', () => {});
      child.stdin.end(input);
    });
  }

  async #authorize(permission: string, file: string, operation: string): Promise<string> {
    const before = await this.#resolve(file);
    const lease = await this.#request(permission, `file:${this.#relativePath(before)}`, operation);
    await lease.use();
    // A link may have been created while the request waited.
    const resolved = await this.#resolve(file);
    if (resolved !== before) throw refused(`${file} was replaced by a link while its permission was requested`);
    return resolved;
  }

  #request(permission: string, resource: string, operation: string, preview?: unknown): Promise<Lease> {
    return this.#context.permission({ permission, resource, operation, preview });
  }

  /** Resolves all links of a path, which need not exist. */
  async #resolve(file: string): Promise<string> {
    if (this.#options.root === undefined) throw refused('The broker has no root folder');
    const root = await realpath(this.#options.root);
    let existing = path.resolve(root, file);
    const missing: string[] = [];
    for (;;) {
      try {
        existing = await realpath(existing);
        break;
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw refused(`${file} cannot be resolved`);
        missing.unshift(path.basename(existing));
        existing = path.dirname(existing);
      }
    }
    const resolved = path.join(existing, ...missing);
    if (resolved !== root && !resolved.startsWith(root + path.sep))
      throw refused(`${file} is outside the root folder of the broker`);
    return resolved;
  }

  #relativePath(resolved: string): string {
    return path.relative(path.resolve(this.#options.root!), resolved).split(path.sep).join('/') || '.';
  }

  #assertHost({ protocol, host, hostname }: URL): void {
    const { hosts = [] } = this.#options;
    const isAllowed = hosts.some(
      (one) => one === host || (one.startsWith('*.') && hostname === host && hostname.endsWith(one.slice(1))),
    );
    if ((protocol !== 'https:' && protocol !== 'http:') || !isAllowed)
      throw refused(`The host ${host} is not allowed; list it in hosts`);
  }

  #assertSize(bytes: number, name: string): void {
    if (bytes > this.#maxBytes)
      throw new ArcpError('PAYLOAD_TOO_LARGE', `${name} is larger than ${this.#maxBytes} bytes`);
  }

  /** Limits a response, which fails while it is read if it is too long. */
  #bounded(response: Response, signal: AbortSignal): Response {
    let remaining = this.#maxBytes;
    const bound = new TransformStream<Uint8Array, Uint8Array>({
      transform: (piece, controller) => {
        remaining -= piece.length;
        if (remaining < 0)
          controller.error(new ArcpError('PAYLOAD_TOO_LARGE', `The response is larger than ${this.#maxBytes} bytes`));
        else controller.enqueue(piece);
      },
    });
    return new Response(abortableBody(response.body, signal)?.pipeThrough(bound) ?? null, response);
  }
}

export function environmentOf(names: readonly string[]): NodeJS.ProcessEnv {
  return Object.fromEntries(
    names.flatMap((name) => (process.env[name] === undefined ? [] : [[name, process.env[name]]])),
  );
}

function refused(message: string): ArcpError {
  return new ArcpError('PERMISSION_DENIED', message);
}

/** Converts errors of the operating system to errors of the protocol. */
async function convertErrors<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (thrown) {
    if (thrown instanceof ArcpError) throw thrown;
    const { code, message } = thrown as NodeJS.ErrnoException;
    throw new ArcpError(code === 'ENOENT' ? 'NOT_FOUND' : 'FAILED_PRECONDITION', message, { cause: thrown });
  }
}
