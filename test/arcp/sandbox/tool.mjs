/** A tool whose input selects an action, inside or outside a sandbox. */
import { spawnSync } from 'node:child_process';
import dns from 'node:dns/promises';
import fs from 'node:fs';
import http from 'node:http';
import net from 'node:net';
import process from 'node:process';
import { Worker } from 'node:worker_threads';

/** Writes to the pipe of the runtime directly. */
function written(bytes, from) {
  try {
    return fs.writeSync(3, bytes, from);
  } catch (error) {
    if (error.code === 'EAGAIN') return 0;
    throw error;
  }
}

const DEEDS = {
  echo: ({ value }) => value,
  read: ({ file }) => fs.readFileSync(file, 'utf8'),
  write: ({ file }) => fs.writeFileSync(file, 'written'),
  scratch: () => {
    fs.writeFileSync('own.txt', 'own');
    return [process.cwd(), fs.readFileSync('own.txt', 'utf8')];
  },
  program: () => spawnSync(process.execPath, ['-e', 'console.log("ran")']).stdout.toString(),
  thread: () =>
    new Promise((resolve, reject) => {
      const worker = new Worker('require("node:worker_threads").parentPort.postMessage("ran")', { eval: true });
      worker.on('message', resolve);
      worker.on('error', reject);
    }),
  fetch: async ({ url }) => (await fetch(url)).text(),
  http: ({ url }) =>
    new Promise((resolve, reject) => {
      http.get(url, (response) => resolve(response.resume().statusCode)).on('error', reject);
    }),
  socket: ({ url }) =>
    new Promise((resolve, reject) => {
      const { hostname, port } = new URL(url);
      const socket = new net.Socket().connect(Number(port), hostname, () => resolve(socket.destroy() && 'open'));
      socket.on('error', reject);
    }),
  listen: () =>
    new Promise((resolve) => {
      const server = net.createServer().listen(0, '127.0.0.1', () => resolve(server.close() && 'open'));
    }),
  lookup: async () => (await dns.lookup('127.0.0.1')).address,
  signal: ({ pid }) => process.kill(pid, 0),
  database: async ({ file }) => {
    // Some versions of Node lack it.
    const name = 'node:sqlite';
    const { DatabaseSync } = await import(name);
    new DatabaseSync(file).exec('CREATE TABLE a (b)');
  },
  environment: () => ({ ...process.env }),
  flags: () => process.execArgv,
  exit: ({ code }) => process.exit(code),
  throw: () => {
    throw Object.assign(new Error('there is none'), { name: 'ArcpError', code: 'NOT_FOUND', details: { of: 'them' } });
  },
  throwLater: () =>
    new Promise(() => {
      setTimeout(() => {
        throw new Error('later');
      });
    }),
  heap: () => {
    for (const all = []; ; ) all.push(new Array(100_000).fill(Math.random()));
  },
  spin: async (_, { progress }) => {
    await progress({ message: String(process.pid) });
    for (;;);
  },
  wait: async (_, { progress, signal }) => {
    await progress({ message: String(process.pid), folder: process.cwd() });
    await new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
  },
  print: () => {
    process.stdout.write('{"arcp":"1.0"}\nsecond');
    process.stderr.write('warned\n');
  },
  printMuch: () => {
    for (let n = 0; n < 100; n++) console.log('x'.repeat(1000));
  },
  cycle: () => {
    const self = {};
    self.self = self;
    return self;
  },
  bigint: () => 1n,
  long: ({ length }) => 'x'.repeat(length),
  deep: () => {
    let value = [];
    for (let n = 0; n < 200; n++) value = [value];
    return value;
  },
  raw: ({ text, encoding, times = 1 }) => {
    const bytes = Buffer.from(text, encoding);
    for (let n = 0; n < times; n++) for (let at = 0; at < bytes.length; ) at += written(bytes, at);
    return new Promise(() => {});
  },
  say: async (_, { progress, log, metric, emit, checkpoint, restored, attempt }) => {
    await progress({ percent: 50 });
    await log('info', 'said', { of: 'it' });
    await metric({ name: 'rows', value: 3 });
    await emit('seen', { n: 1 });
    const id = await checkpoint({ at: 1 }, { label: 'half' });
    return { id: typeof id, restored: restored ?? null, attempt };
  },
  sayWrong: (_, { progress }) => progress({ percent: 'much' }),
  restart: async (_, { checkpoint, restored, attempt }) => {
    if (restored !== undefined) return { restored, attempt };
    await checkpoint({ at: 7 });
    throw Object.assign(new Error('once more'), { name: 'ArcpError', code: 'UNAVAILABLE' });
  },
  stream: async ({ count }, { stream }) => {
    const text = stream({ kind: 'text', name: 'out' });
    for (let n = 0; n < count; n++) await text.write(`${n} `);
    await text.close();
    const bytes = stream({ kind: 'binary' });
    await bytes.write(new Uint8Array([1, 2, 255]));
    await bytes.close();
  },
  incoming: async ({ which }, { incoming }) => {
    const pieces = [];
    for await (const piece of incoming(which)) pieces.push(piece instanceof Uint8Array ? [...piece] : piece);
    return pieces;
  },
  endless: async (_, { stream, progress }) => {
    const text = stream({ kind: 'text' });
    for (let n = 1; ; n++) {
      await text.write('x'.repeat(65_536));
      await progress({ current: n });
    }
  },
  step: async ({ file }, { step, attempt }) => {
    const first = await step('once', (operationKey) => {
      fs.appendFileSync(file, 'x');
      return { operationKey: operationKey.endsWith(':once'), attempt };
    });
    if (attempt === 1) throw Object.assign(new Error('again'), { name: 'ArcpError', code: 'UNAVAILABLE' });
    return { first, attempt };
  },
  stepFails: (_, { step }) =>
    step('fails', () => {
      throw Object.assign(new Error('not this'), { name: 'ArcpError', code: 'OUT_OF_RANGE' });
    }),
  call: ({ tool }, { call }) => call(tool, { a: 1 }),
  refund: async (_, { permission }) => {
    const lease = await permission({ permission: 'payment.refund', resource: 'order:1', operation: 'refund' });
    await lease.use();
    return lease.use({ resource: 'order:2' });
  },
  broker: async ({ url }, { broker }) => {
    const text = await broker.fs.readFile('a.txt');
    await broker.fs.writeFile('b.txt', text.toUpperCase());
    const response = await broker.fetch(url, { method: 'POST', headers: { 'x-of': 'it' }, body: 'asked' });
    const { stdout } = await broker.exec('node', ['-e', 'console.log("ran")']);
    return [await broker.fs.list('.'), response.status, await response.text(), stdout.trim()];
  },
  brokerWaits: async (_, { broker, progress }) => {
    const program = 'fs.writeFileSync("pid.txt", String(process.pid)); setInterval(() => {}, 1000)';
    broker.exec('node', ['-e', program]).catch(() => {});
    for (let pid = ''; pid === ''; ) pid = await broker.fs.readFile('pid.txt').catch(() => '');
    await progress({ message: await broker.fs.readFile('pid.txt') });
    process.exit(1);
  },
  brokerFetch: async ({ url }, { broker }) => (await broker.fetch(url)).status,
};

export default (input, context) => DEEDS[input.do](input, context);
