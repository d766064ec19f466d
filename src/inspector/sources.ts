// biome-ignore-all lint/correctness/noNodejsModules: files need Node
/** Feeds of what is stored: logs, and the databases of ARCP runtimes. */
import { type FileHandle, open } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { SESSION_FORMAT } from '../accp/store/sqlite-format.js';
import { isFromClient } from '../arcp/conformance/index.js';
import { type Envelope, parseTimestamp, tryParseEnvelope } from '../arcp/index.js';
import type { ArcpStore } from '../arcp/runtime/index.js';
import { isUploadLog } from '../arcp/runtime/uploads/rows.js';
import { openDatabase } from '../storage/open.js';
import type { Feed, FeedRecord, NewRecord } from './feed.js';

const POLL_MS = 250;
const PAGE = 500;
const CHUNK = 65_536;
/** A longer line is not a message: of ARCP, the longest has 4 MiB. */
const MAX_LINE = 2 ** 23;

/** Checks the text of an ARCP message; other texts are checked by the page. */
export function checkText(text: string): FeedRecord['verdict'] {
  if (!/^\s*\{/.test(text) || !text.includes('"arcp"')) return undefined;
  const result = tryParseEnvelope(text, { maxMessageBytes: Number.POSITIVE_INFINITY });
  return result.ok ? undefined : { code: result.error.code, message: result.error.message };
}

/**
 * Reads a log to its end, and then the lines that are appended, until the signal aborts. A file that becomes shorter is read again. When a
 * log is rotated, the file that takes its name is read next.
 *
 * @throws Error of the system if the file cannot be read
 */
export async function followFile(file: string, feed: Feed, signal: AbortSignal): Promise<void> {
  let handle: FileHandle | undefined = await open(file, 'r');
  let { size: known } = await handle.stat();
  while (handle !== undefined) {
    const current: FileHandle = handle;
    try {
      handle = await followHandle(current, { file, known }, feed, signal);
    } finally {
      await current.close();
    }
    known = 0;
  }
}

/** Follows an open file of that many known bytes until another file has its name, which it opens. */
async function followHandle(
  handle: FileHandle,
  { file, known }: { readonly file: string; readonly known: number },
  feed: Feed,
  signal: AbortSignal,
): Promise<FileHandle | undefined> {
  const lines = new LineReader(feed);
  for (let position = 0, idle = 0; !signal.aborted; ) {
    const read = await readFrom(handle, position, lines);
    position += read;
    idle = read > 0 ? 0 : idle + 1;
    if (read > 0) continue;
    // The last line of a file that does not grow may have no end. A program that appends to the file may pause within a line.
    if (idle === 2 && position <= known) lines.end();
    if ((await handle.stat()).size < position) {
      lines.reset();
      position = 0;
      known = 0;
    }
    const replacement = await openReplacement(file, handle);
    if (replacement !== undefined) {
      for (let rest = -1; rest !== 0; position += rest) rest = await readFrom(handle, position, lines);
      lines.end();
      return replacement;
    }
    await sleep(POLL_MS, undefined, { signal, ref: false }).catch(() => undefined);
  }
  return undefined;
}

/** Opens the file that has the name now, if it is another one. While a log is rotated, no file may have the name. */
async function openReplacement(file: string, handle: FileHandle): Promise<FileHandle | undefined> {
  const named = await open(file, 'r').catch(() => undefined);
  if (named === undefined) return undefined;
  const [is, was] = [await named.stat(), await handle.stat()];
  if (is.ino !== was.ino || is.dev !== was.dev) return named;
  await named.close();
  return undefined;
}

async function readFrom(handle: FileHandle, position: number, lines: LineReader): Promise<number> {
  const { bytesRead, buffer } = await handle.read(Buffer.allocUnsafe(CHUNK), 0, CHUNK, position);
  lines.push(buffer.subarray(0, bytesRead));
  return bytesRead;
}

/** Reads a stream to its end. */
export async function readStream(stream: AsyncIterable<Uint8Array>, feed: Feed): Promise<void> {
  const lines = new LineReader(feed);
  for await (const chunk of stream) lines.push(chunk);
  lines.end();
}

/** Splits bytes into lines, and adds their messages to a feed. */
class LineReader {
  readonly #feed: Feed;
  #decoder = new TextDecoder();
  #rest = '';
  #isTooLong = false;

  constructor(feed: Feed) {
    this.#feed = feed;
  }

  push(bytes: Uint8Array): void {
    const lines = (this.#rest + this.#decoder.decode(bytes, { stream: true })).split('\n');
    this.#rest = lines.pop()!;
    for (const line of lines) this.#line(line);
    if (this.#rest.length <= MAX_LINE) return;
    if (!this.#isTooLong) this.#feed.add({ t: 0, side: 'log', session: '', kind: 'note', text: 'A line is too long.' });
    this.#isTooLong = true;
    this.#rest = '';
  }

  end(): void {
    this.#line(this.#rest + this.#decoder.decode());
    this.#rest = '';
  }

  reset(): void {
    this.#decoder = new TextDecoder();
    this.#rest = '';
    this.#isTooLong = false;
  }

  #line(line: string): void {
    if (!this.#isTooLong) for (const record of recordsOf(line.replace(/\r$/, ''))) this.#feed.add(record);
    this.#isTooLong = false;
  }
}

const JSON_LINE = /^\s*\{/;

/** Reads a line of a log: an export of the inspector, a log of `pegwire acp run` or of dispatched packets, or a message. Comments and blank lines have no records. */
export function recordsOf(line: string): readonly NewRecord[] {
  if (line.trim() === '' || line.startsWith('#')) return [];
  const value = JSON_LINE.test(line) ? parsed(line) : undefined;
  if (value === undefined) return [{ t: 0, side: 'log', session: '', text: line }];
  return audited(value) ?? [exported(value) ?? relayed(value, line) ?? message(value, line)];
}

type Members = Readonly<Record<string, unknown>>;

function exported({ t, side, session, text, kind, isOwn, arcp, jsonrpc }: Members): NewRecord | undefined {
  if (arcp !== undefined || jsonrpc !== undefined || typeof t !== 'number' || typeof text !== 'string')
    return undefined;
  if (side !== 'client' && side !== 'server' && side !== 'log') return undefined;
  const isEvent = kind === 'opened' || kind === 'closed' || kind === 'note';
  const of = { t, side, session: typeof session === 'string' ? session : '', text } as const;
  return { ...of, ...(isEvent ? { kind } : {}), ...(isOwn === true ? { isOwn } : {}) };
}

/** Reads a line of `pegwire acp run --log`. The message is taken from the text, which keeps its digits. */
function relayed({ at, from, connection, message, rejected, text }: Members, line: string): NewRecord | undefined {
  if (typeof at !== 'string' || typeof from !== 'string') return undefined;
  const session = typeof connection === 'string' ? connection : '';
  const of = { t: Date.parse(at) || 0, side: from === 'client' ? 'client' : 'server', session } as const;
  if (typeof rejected === 'string') return { ...of, kind: 'note', text: `not a message: ${rejected}: ${String(text)}` };
  const start = line.indexOf('"message":');
  if (message === undefined || start < 0) return undefined;
  return { ...of, text: line.slice(start + '"message":'.length, line.lastIndexOf('}')) };
}

/** Reads a line of a log of dispatched packets. Only the first event of a packet has its text. */
function audited({ event, packet, time, actor, reason, attempt, chain }: Members): readonly NewRecord[] | undefined {
  if (typeof event !== 'string' || typeof packet !== 'string' || typeof time !== 'string' || chain === undefined)
    return undefined;
  const of = { t: timeOf(time), session: typeof actor === 'string' ? actor : '' };
  const why = typeof reason === 'string' ? `${event}: ${reason}` : event;
  if (typeof attempt === 'number')
    return [{ ...of, side: 'server', kind: 'note', text: `record ${attempt} is ${why}` }];
  const received = { ...of, side: 'client', text: packet } as const;
  return event === 'handed-over' ? [received] : [received, { ...of, side: 'server', kind: 'note', text: why }];
}

function message(value: Members, line: string): NewRecord {
  const { arcp, timestamp, session_id: session } = value;
  if (arcp === undefined) return { t: 0, side: 'log', session: '', text: line };
  const result = tryParseEnvelope(line, { maxMessageBytes: Number.POSITIVE_INFINITY });
  return {
    t: timeOf(timestamp),
    side: result.ok ? (isFromClient(result.value as Envelope) ? 'client' : 'server') : 'log',
    session: typeof session === 'string' ? session : '',
    text: line,
  };
}

function timeOf(timestamp: unknown): number {
  return typeof timestamp === 'string' ? parseTimestamp(timestamp) || 0 : 0;
}

function parsed(line: string): Members | undefined {
  try {
    return JSON.parse(line) as Members;
  } catch {
    return undefined;
  }
}

/**
 * Reads the messages of a database, and then those that are added, until the signal aborts.
 *
 * @throws StoreError if the database cannot be read
 */
export async function followStore(store: ArcpStore, feed: Feed, signal: AbortSignal): Promise<void> {
  for (let after = 0; !signal.aborted; ) {
    const events = await store.readEvents({ after, limit: PAGE });
    for (const { body, sequence, sessionId, storedAt } of events) {
      after = sequence;
      if (!isUploadLog(sessionId)) feed.add({ t: storedAt, side: 'server', session: sessionId, text: body });
    }
    if (events.length < PAGE) await sleep(POLL_MS, undefined, { signal, ref: false }).catch(() => undefined);
  }
}

/**
 * Reads the sessions of ACCP in a SQLite file, as they are now: each stored value as JSON, and the frames that were sent last.
 *
 * @throws StoreError if the file cannot be read, or is the file of another program
 */
export async function readSessions(file: string, feed: Feed): Promise<void> {
  const database = await openDatabase(file, { format: SESSION_FORMAT, allowReadOnly: true });
  try {
    const rows = database.prepare(
      'SELECT e.session, e.agent, n.collection, n.key, n.value FROM entry n JOIN endpoint e ON e.id = n.endpoint ORDER BY n.id',
    );
    for (const { session, agent, collection, key, value } of rows.iterate()) {
      const of = { t: 0, side: 'log', session: `${session} ${agent}` } as const;
      const text = `{"collection":${JSON.stringify(collection)},"key":${JSON.stringify(key)},"value":${value}}`;
      feed.add({ ...of, text });
      const frame = collection === 'outbox' ? (parsed(String(value))?.['frame'] as Members | undefined) : undefined;
      if (typeof frame?.['body'] === 'string')
        feed.add({ ...of, t: 1000 * (Number(frame['ts']) || 0), text: frame['body'] });
    }
  } finally {
    database.close();
  }
}
