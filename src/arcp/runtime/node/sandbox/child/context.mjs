// @ts-check
// biome-ignore-all lint/correctness/noNodejsModules: it is a program of Node
/** What a sandboxed tool is given: all of it is done by the runtime. */
import { Buffer } from 'node:buffer';

/** @typedef {import('../types.js').SandboxContext} SandboxContext */
/** @typedef {import('./parent.mjs').Parent} Parent */

/** Replies that have no body (Fetch Standard, "null body status"). */
const BODILESS = [101, 103, 204, 205, 304];

/**
 * @param {any} known what does not change
 * @param {Parent} parent
 * @returns {SandboxContext}
 */
export function contextOf(known, parent) {
  let streams = 0;
  /** @param {string} method */
  const asking =
    (method) =>
    /** @param {unknown[]} args */
    async (...args) =>
      parent.ask(method, withoutEnd(args));
  return {
    ...known,
    signal: parent.signal,
    progress: asking('progress'),
    log: asking('log'),
    metric: asking('metric'),
    emit: asking('emit'),
    checkpoint: asking('checkpoint'),
    /** @param {unknown} wish */
    permission: async (wish) => {
      const lease = await parent.ask('permission', [wish]);
      const use = asking('lease.use');
      // JSON has no infinity.
      const expiresAt = lease.expiresAt ?? Number.POSITIVE_INFINITY;
      return { ...lease, expiresAt, use: (/** @type {unknown[]} */ ...wanted) => use(lease.leaseId, ...wanted) };
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
        readFile: asking('fs.readFile'),
        list: asking('fs.list'),
        writeFile: asking('fs.writeFile'),
        remove: asking('fs.remove'),
      },
      /** @param {string | URL} url @param {RequestInit} [init] */
      fetch: (url, init) => fetchBy(parent, url, init),
      /** @param {string} program @param {readonly string[]} [args] @param {unknown[]} options */
      exec: async (program, args = [], ...options) => parent.ask('exec', withoutEnd([program, args, ...options])),
    },
  };
}

/**
 * What is left out says nothing; JSON would make it `null`.
 *
 * @param {unknown[]} args
 */
function withoutEnd(args) {
  return args.at(-1) === undefined ? args.slice(0, -1) : args;
}

/**
 * @param {Parent} parent
 * @param {number} id
 * @param {{ kind: string }} options
 */
function openStream(parent, id, options) {
  const opened = parent.ask('stream.open', [id, options]);
  // Whoever writes is told.
  opened.catch(() => {});
  /** @param {string} method @param {unknown[]} args */
  const ask = async (method, ...args) => {
    const done = parent.ask(method, withoutEnd([id, ...args]));
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
  const opened = parent.ask('incoming.open', withoutEnd([id, which]));
  // Whoever reads is told.
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
