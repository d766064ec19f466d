// biome-ignore-all lint/correctness/noNodejsModules: servers require Node
/** The page of an inspector, and the requests that it makes: the feed, schemas, token counts, and messages to send. */
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { MESSAGE_TYPES, messageJsonSchema } from '../arcp/index.js';
import { after as afterMs } from '../async/timers.js';
import { endWithFile, PAGE_TYPES } from '../channels/node/compressed.js';
import type { AnyRequest, AnyResponse } from '../channels/node/http-server.js';
import { answer, answerJson, tokenCheck } from '../channels/node/listen.js';
import { type HttpRefusal, refuse } from '../channels/node/refuse.js';
import { readRequestBody } from '../channels/node/request-body.js';
import { loadTokenCounter } from '../tokens/index.js';
import type { Feed, SendRefusal } from './feed.js';

/** The protocol of the messages, which selects the forms of the page; `any` for a log or proxy that may have several. */
export type InspectedProtocol = 'accp' | 'arcp' | 'acp' | 'any';

/** Options of {@link inspectorPages}. */
export interface PagesOptions {
  /** The messages to show. @default only the page at `/` is served */
  readonly feed?: Feed | undefined;
  /** The folder of the built page. */
  readonly folder: string;
  /** The bearer token that the requests of the page must contain. */
  readonly token: string;
  /** If true, the page can send messages. */
  readonly allowSend: boolean;
  /** A name for the source of the messages: a file, an address, a command. */
  readonly source: string;
  /** The protocol of the source. */
  readonly protocol: InspectedProtocol;
  /** The page at `/`. @default a redirection to the inspector */
  readonly home?: (() => Home | Promise<Home>) | undefined;
}

/** A description of a server. */
export interface Home {
  /** The command that runs: `pegwire serve`. */
  readonly title: string;
  /** Names and values, in order. */
  readonly facts: readonly (readonly [name: string, value: string])[];
}

/** The pages of an inspector. */
export interface Pages {
  /** Answers a request. @returns `false` if the request is for something else */
  readonly answer: (request: AnyRequest, response: AnyResponse) => boolean;
  /** Ends the feeds of open pages, which would keep the server open. */
  readonly close: () => void;
}

/** The path of the inspector. */
export const INSPECT_PATH = '/inspect/';

const FILES: ReadonlySet<string> = new Set(['index.html', 'main.js', 'main.css']);
const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; " +
  "form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'";
const HEADERS: Readonly<Record<string, string>> = {
  'content-security-policy': POLICY,
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'cache-control': 'no-store',
};

const MAX_BODY = 2 ** 22;
const BODY_MS = 10_000;
const BATCH = 500;
const BATCH_LENGTH = 2 ** 18;
const KEEP_ALIVE_MS = 15_000;

const REFUSALS = {
  token: {
    status: 401,
    code: 'token',
    message: 'The token is missing or wrong',
    headers: { 'www-authenticate': 'Bearer' },
  },
  origin: { status: 403, code: 'origin', message: 'Only the page of this server can use the inspector' },
  readOnly: { status: 403, code: 'read-only', message: 'The inspector is read-only; start it with --allow-send' },
  body: { status: 400, code: 'invalid-body', message: 'The body must be a JSON object with the required members' },
  type: { status: 415, code: 'media-type', message: 'The body must be application/json' },
  missing: { status: 404, code: 'not-found', message: 'There is nothing at this path' },
  method: { status: 405, code: 'method', message: 'This path does not support the method' },
  build: { status: 503, code: 'no-page', message: 'The page has not been built; run npm run build' },
} as const satisfies Readonly<Record<string, HttpRefusal>>;

const SEND_REFUSALS: Readonly<Record<SendRefusal, string>> = {
  'unknown-connection': 'The connection does not exist',
  'connection-closed': 'The connection has ended',
  'wrong-side': 'Messages of this side cannot be sent over the connection',
  unreachable: 'The other side cannot be reached',
};

/**
 * Creates the pages of an inspector. The server has to check the names of hosts and origins before it calls them.
 *
 * @example
 * const pages = inspectorPages({ feed, folder, token, allowSend: false, source: 'log.jsonl', protocol: 'any' });
 * createServer((request, response) => pages.answer(request, response) || response.writeHead(404).end());
 */
export function inspectorPages(options: PagesOptions): Pages {
  const { feed, home, source, protocol, allowSend } = options;
  const about = { source, protocol, allowSend };
  const isToken = tokenCheck(options.token);
  const files = new Map<string, Promise<Buffer>>();
  const streams = new Set<AnyResponse>();
  let isClosed = false;

  const file = async (request: AnyRequest, response: AnyResponse, name: string): Promise<void> => {
    let packed = files.get(name);
    if (packed === undefined) {
      packed = readFile(path.join(options.folder, `${name}.gz`));
      files.set(name, packed);
      packed.catch(() => files.delete(name));
    }
    const bytes = await packed.catch(() => undefined);
    if (bytes === undefined) {
      refuse(request, response, REFUSALS.build);
      return;
    }
    withHeaders(response).setHeader('content-type', PAGE_TYPES[path.extname(name)]!);
    endWithFile(request, response, bytes);
  };

  const api = async (request: AnyRequest, response: AnyResponse, name: string, query: string): Promise<void> => {
    const { authorization = '', origin } = request.headers;
    const host = request.headers[':authority'] ?? request.headers.host;
    if (origin !== undefined && !(URL.canParse(origin) && new URL(origin).host === host))
      return refuse(request, response, REFUSALS.origin);
    if (!isToken(/^bearer +(\S+)$/i.exec(authorization)?.[1] ?? '')) return refuse(request, response, REFUSALS.token);
    const isPost = name === 'send' || name === 'tokens';
    if (request.method !== (isPost ? 'POST' : 'GET')) return refuse(request, response, REFUSALS.method);
    if (feed === undefined || isClosed) return refuse(request, response, REFUSALS.missing);
    if (name === 'feed') {
      streams.add(response);
      response.once('close', () => streams.delete(response));
      return streamFeed(feed, response, { ...about, dropped: feed.dropped }, query);
    }
    if (name === 'schemas') return answerJson(response, schemas());
    if (!isPost) return refuse(request, response, REFUSALS.missing);
    if (name === 'send' && !options.allowSend) return refuse(request, response, REFUSALS.readOnly);
    if (!/^application\/json\b/.test(request.headers['content-type'] ?? ''))
      return refuse(request, response, REFUSALS.type);
    const body = await bodyOf(request);
    if (typeof body?.['text'] !== 'string') return refuse(request, response, REFUSALS.body);
    if (name === 'tokens') return countTokens(response, body['text']);
    return send(feed, request, response, { ...body, text: body['text'] });
  };

  const answerRequest: Pages['answer'] = (request, response) => {
    const [, pathname = '/', query = ''] = /^([^?]*)\??(.*)$/s.exec(request.url ?? '/')!;
    const failed = (thrown: unknown): void => {
      if (response.headersSent) response.destroy();
      else refuse(request, response, { status: 500, code: 'internal', message: String(thrown) });
    };
    const isRead = request.method === 'GET' || request.method === 'HEAD';
    if (pathname === '/' && isRead) {
      if (home === undefined) redirect(response);
      else
        Promise.resolve(home()).then((shown) => {
          withHeaders(response).setHeader('content-type', PAGE_TYPES['.html']!);
          response.end(homePage(shown, feed !== undefined));
        }, failed);
    } else if (`${pathname}/` === INSPECT_PATH && isRead) redirect(response);
    else if (!pathname.startsWith(INSPECT_PATH)) return false;
    else {
      const name = pathname.slice(INSPECT_PATH.length) || 'index.html';
      if (name.startsWith('api/')) api(request, response, name.slice(4), query).catch(failed);
      else if (!FILES.has(name) || (feed === undefined && name !== 'main.css'))
        refuse(request, response, REFUSALS.missing);
      else if (!isRead) refuse(request, response, REFUSALS.method);
      else file(request, response, name).catch(failed);
    }
    return true;
  };
  const close = (): void => {
    isClosed = true;
    for (const response of streams) response.end();
  };
  return { answer: answerRequest, close };
}

const LINK = `<a href="${INSPECT_PATH}">Inspect its messages</a>: the page asks for the token that the command prints with its address.`;

/** A redirection keeps the fragment, and so the token. */
function redirect(response: AnyResponse): void {
  response.setHeader('location', INSPECT_PATH);
  answer(response, 302);
}

function withHeaders(response: AnyResponse): AnyResponse {
  for (const [name, value] of Object.entries(HEADERS)) response.setHeader(name, value);
  return response;
}

/** Sends the feed as lines of JSON, the first of which describes it. It waits for slow readers, whose records may be removed meanwhile. */
async function streamFeed(feed: Feed, response: AnyResponse, about: object, query: string): Promise<void> {
  withHeaders(response).setHeader('content-type', 'application/x-ndjson');
  const write = (text: string): boolean => (response as NodeJS.WritableStream).write(text);
  let isOpen = true;
  let wake = (): void => undefined;
  const stop = feed.watch(() => wake());
  response.once('close', () => {
    isOpen = false;
    wake();
  });
  response.on('drain', () => wake());
  let isReady = write(`${JSON.stringify(about)}\n`);
  let position = Number(/(?:^|&)after=(\d+)/.exec(query)?.[1] ?? 0);
  // The feed of an earlier process may have been longer.
  if (position > feed.last) position = 0;
  while (isOpen) {
    const records = isReady ? feed.after(position, BATCH, BATCH_LENGTH) : [];
    if (records.length > 0) {
      position = records.at(-1)!.n;
      isReady = write(`${JSON.stringify(records)}\n`);
      continue;
    }
    const isIdle = await new Promise<boolean>((resolve) => {
      const cancel = afterMs(KEEP_ALIVE_MS, () => resolve(true));
      wake = () => {
        cancel();
        resolve(false);
      };
    });
    if (isIdle) isReady = write('\n');
    else isReady = !(response as NodeJS.WritableStream & { writableNeedDrain?: boolean }).writableNeedDrain;
  }
  stop();
}

let schemaText: Readonly<Record<string, unknown>> | undefined;

/** Returns the JSON Schemas of all messages of ARCP. */
function schemas(): Readonly<Record<string, unknown>> {
  schemaText ??= Object.fromEntries(MESSAGE_TYPES.map((type) => [type, messageJsonSchema(type)]));
  return schemaText;
}

async function countTokens(response: AnyResponse, text: string): Promise<void> {
  const counter = await loadTokenCounter();
  answerJson(response, { tokens: counter.count(text), encoding: counter.encoding, exact: counter.exact });
}

type Body = Readonly<Record<string, unknown>>;

async function bodyOf(request: AnyRequest): Promise<Body | undefined> {
  const { bytes, fault } = await readRequestBody(request, MAX_BODY, BODY_MS);
  if (fault !== undefined) return undefined;
  try {
    const value = JSON.parse(bytes.toString('utf8')) as unknown;
    return typeof value === 'object' && value !== null ? (value as Body) : undefined;
  } catch {
    return undefined;
  }
}

async function send(
  feed: Feed,
  request: AnyRequest,
  response: AnyResponse,
  body: Body & { text: string },
): Promise<void> {
  const { text, session, side } = body;
  if (typeof session !== 'string' || (side !== 'client' && side !== 'server') || text === '')
    return refuse(request, response, REFUSALS.body);
  const refusal = await feed.send(session, side, text);
  if (refusal === undefined) return answerJson(response, { sent: true });
  return refuse(request, response, { status: 409, code: refusal, message: SEND_REFUSALS[refusal] });
}

function homePage({ title, facts }: Home, isInspected: boolean): string {
  const rows = facts.map(([name, value]) => `<dt>${escaped(name)}</dt><dd>${escaped(value)}</dd>`).join('');
  return `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${escaped(title)}</title>
<link rel="icon" href="data:,"><link rel="stylesheet" href="${INSPECT_PATH}main.css"></head><body><main class="home"><h1>${escaped(title)}</h1><dl>${rows}</dl>
<p>${isInspected ? LINK : 'Start it with --inspect to see its messages in this browser.'}</p></main></body></html>
`;
}

function escaped(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}
