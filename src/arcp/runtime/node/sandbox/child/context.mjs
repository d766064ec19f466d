// @ts-check
// biome-ignore-all lint/correctness/noNodejsModules: it is a program for Node
/** The context of a sandboxed tool. The runtime executes its methods. */
import { Buffer } from 'node:buffer';

/** @typedef {import('../types.js').SandboxContext} SandboxContext */
/** @typedef {import('./parent.mjs').Parent} Parent */

/** The statuses of responses without a body (Fetch Standard, "null body status"). */
const BODILESS = [101, 103, 204, 205, 304];

/**
 * Creates the context of a tool.
 *
 * @param {any} known its constant members
 * @param {Parent} parent
 * @returns {SandboxContext}
 */
export function contextOf(known, parent) {
  let streams = 0;
  /** @param {string} method */
  const remote =
    (method) =>
    /** @param {unknown[]} args */
    async (...args) =>
      parent.ask(method, withoutTrailing(args));
  return {
    ...known,
    signal: parent.signal,
    progress: remote('progress'),
    log: remote('log'),
    metric: remote('metric'),
    emit: remote('emit'),
    checkpoint: remote('checkpoint'),
    /** @param {unknown} request */
    permission: async (request) => {
      const lease = await parent.ask('permission', [request]);
      const use = remote('lease.use');
      // JSON has no infinity.
      const expiresAt = lease.expiresAt ?? Number.POSITIVE_INFINITY;
      return { ...lease, expiresAt, use: (/** @type {unknown[]} */ ...part) => use(lease.leaseId, ...part) };
    },
    /** @param {string} key @param {(operationKey: string) => unknown} work */
    step: async (key, work) => parent.ask('step', [key], work),
    /** @param {string} tool @param {unknown} [args] */
    call: async (tool, args = {}) => parent.ask('call', [tool, args]),
    /** @param {{ kind: string }} options */
    stream: (options) => openStream(parent, streams++, options),
    /** @param {string} [which] */
    incoming: (which) => readStream(parent, streams++, which),
    broker: {
      fs: {
        readFile: remote('fs.readFile'),
        list: remote('fs.list'),
        writeFile: remote('fs.writeFile'),
        remove: remote('fs.remove'),
      },
      /** @param {string | URL} url @param {RequestInit} [init] */
      fetch: (url, init) => fetchBy(parent, url, init),
      /** @param {string} program @param {readonly string[]} [args] @param {unknown[]} options */
      exec: async (program, args = [], ...options) => parent.ask('exec', withoutTrailing([program, args, ...options])),
    },
  };
}

/**
 * Removes a trailing `undefined`, which JSON would convert to `null`.
 *
 * @param {unknown[]} args
 */
function withoutTrailing(args) {
  return args.at(-1) === undefined ? args.slice(0, -1) : args;
}

/**
 * @param {Parent} parent
 * @param {number} id
 * @param {{ kind: string }} options
 */
function openStream(parent, id, options) {
  const opened = parent.ask('stream.open', [id, options]);
  // Writes report the error.
  opened.catch(() => {});
  /** @param {string} method @param {unknown[]} args */
  const ask = async (method, ...args) => {
    const done = parent.ask(method, withoutTrailing([id, ...args]));
    done.catch(() => {});
    await opened;
    return done;
  };
  return {
    id: String(id),
    kind: options.kind,
    /** @param {unknown} content */
    write: (content) =>
      ask('stream.write', content instanceof Uint8Array ? Buffer.from(content).toString('base64') : content),
    /** @param {string} [reason] */
    close: (reason) => ask('stream.close', reason),
    /** @param {unknown} error */
    fail: (error) => ask('stream.fail', error instanceof Error ? error.message : String(error)),
  };
}

/**
 * @param {Parent} parent
 * @param {number} id
 * @param {string} [which]
 * @returns {AsyncIterableIterator<any>}
 */
function readStream(parent, id, which) {
  const opened = parent.ask('incoming.open', withoutTrailing([id, which]));
  // Reads report the error.
  opened.catch(() => {});
  return {
    next: async () => {
      await opened;
      const { done, value, bytes } = await parent.ask('incoming.next', [id]);
      if (done) return { done: true, value: undefined };
      return { done: false, value: bytes === undefined ? value : new Uint8Array(Buffer.from(bytes, 'base64')) };
    },
    return: async () => {
      await opened;
      await parent.ask('incoming.return', [id]);
      return { done: true, value: undefined };
    },
    [Symbol.asyncIterator]() {
      return this;
    },
  };
}

/**
 * @param {Parent} parent
 * @param {string | URL} url
 * @param {RequestInit} [init]
 */
async function fetchBy(parent, url, init = {}) {
  const { method, headers, body } = init;
  const sent = body === undefined || body === null ? undefined : await new Response(body).arrayBuffer();
  const { status, statusText, ...replied } = await parent.ask('fetch', [
    String(url),
    {
      method,
      headers: headers === undefined ? undefined : [...new Headers(headers)],
      body: sent === undefined ? undefined : Buffer.from(sent).toString('base64'),
    },
  ]);
  const bytes = BODILESS.includes(status) ? null : Buffer.from(replied.body, 'base64');
  return new Response(bytes, { status, statusText, headers: replied.headers });
}
