import process from 'node:process';
import { openClient } from '../../arcp/client/index.js';
import { dialAddress } from '../../channels/node/addresses.js';
import { shownAddress } from '../../channels/shown-address.js';
import { Feed } from '../../inspector/feed.js';
import type { InspectedProtocol } from '../../inspector/pages.js';
import { startProxy } from '../../inspector/proxy.js';
import { startInspector } from '../../inspector/server.js';
import { checkText, followFile, followStore, readSessions, readStream } from '../../inspector/sources.js';
import { tapChannel } from '../../inspector/tap.js';
import { addHttpFrames, openRecorded } from '../../inspector/targets.js';
import { isPostgres } from '../io/databases.js';
import { storeFault, UsageError, unreadable } from '../io/errors.js';
import { readText } from '../io/files.js';
import { toJson } from '../io/json.js';
import { labelled } from '../io/output.js';
import { endBySignal } from '../io/signals.js';
import { defineCommand, type Invocation } from '../options/command.js';
import { choice, flag, integer, text, texts, value } from '../options/option.js';
import { notStarted } from '../options/shared.js';
import { pageFolder } from '../session/inspector.js';
import { isDatabase, openLog } from './arcp/logs.js';
import { bearer, connected, TARGET_OPTIONS, unreachable } from './arcp/targets.js';

const port = integer({ from: 0, to: 65_535 });

const OPTIONS = {
  port: value('PORT', 'Serve the page on this port (default: 4713); 0 for any free port', port),
  host: text('HOST', 'Listen on this name or address (default: 127.0.0.1)'),
  listen: value('PORT', 'Listen on this port as a proxy, and forward everything to --to; 0 for any free port', port),
  to: text('URL', 'Forward to this server: http, https, ws or wss'),
  origin: texts('ORIGIN', 'Let the proxy forward requests of web pages of this origin; may be repeated'),
  protocol: choice(
    'NAME',
    'The protocol of SOURCE, if it is an address: arcp, accp or auto (default), which takes accp for a path with "accp", and otherwise arcp',
    ['auto', 'arcp', 'accp'],
  ),
  insecure: flag('Let other machines connect to the proxy; the server behind it checks their tokens'),
  'allow-send': flag('Let the page send messages, and grant and deny permissions'),
  'page-token': text('TOKEN', 'Require this bearer token from the page (default: a random one)'),
  ...TARGET_OPTIONS,
};

type Run = Invocation<typeof OPTIONS>;

/** An address; anything else is a file, including `C:\\runtime.db`. */
const ADDRESS = /^[a-z][a-z0-9+.-]+:/i;

/** Milliseconds that a runtime has to close the session. */
const CLOSE_MS = 1_000;

/** Added to the error of an address of HTTP that does not name frames. */
const HTTP_HELP =
  'for an endpoint of ACCP over HTTP, give its whole URL, with the path, and --protocol accp unless the path has it: http://HOST:PORT/accp/v1/frames';

export const command = defineCommand({
  takes: { words: 'SOURCE | --listen PORT --to URL' },
  options: OPTIONS,
  details: [
    'Serves a page that shows messages as they are sent, and prints its URL to stdout. The URL contains the token. The page loads nothing from ' +
      'other servers. SIGINT or SIGTERM ends the command.',
    'SOURCE is a log with one message per line, which may still grow, "-" for stdin, a database of pegwire arcp serve --db (a SQLite file or a ' +
      'postgres:// URL), a SQLite file with ACCP sessions, or the address of a runtime or an endpoint, to which the inspector connects as a client: its page can then call tools.',
    'With --listen and --to, the inspector is a proxy between clients and a server, for WebSockets and HTTP/1.1. Clients connect to its port ' +
      'with the path of the server.',
  ],
  example: [
    'pegwire inspect log.jsonl',
    'pegwire inspect ws://127.0.0.1:7777/arcp --allow-send',
    'pegwire inspect --listen 4712 --to http://127.0.0.1:4711',
  ],
  run,
});

async function run(invocation: Run): Promise<number> {
  const { options, output, json, words } = invocation;
  const [source, extra] = words;
  const { listen, to } = options;
  if (extra !== undefined) throw new UsageError(`inspect takes one source; remove "${extra}"`);
  if ((listen === undefined) !== (to === undefined)) throw new UsageError('--listen and --to must be used together');
  if ((source === undefined) === (to === undefined))
    throw new UsageError('inspect requires a source: pegwire inspect FILE, or pegwire inspect --listen PORT --to URL');
  const feed = new Feed({ check: checkText });
  const opened = to === undefined ? await openSource(invocation, source!, feed) : await openProxy(invocation, to, feed);
  try {
    const inspector = await startInspector({
      ...{ feed, folder: pageFolder(), source: opened.name, protocol: opened.protocol },
      allowSend: options['allow-send'] && opened.canSend,
      ...{ token: options['page-token'], port: options.port, host: options.host },
    }).catch((thrown: unknown) => {
      throw notStarted(thrown);
    });
    if (options['allow-send'] && !opened.canSend)
      await output.note(labelled('warning', 'read-only', `Nothing can be sent to ${opened.name}`, output.paintNote));
    const proxy = opened.listening;
    await output.result(
      json ? toJson({ page: inspector.url, proxy }) : [inspector.url, proxy].filter(Boolean).join('\n'),
    );
    await endBySignal(inspector.close, () => process.exit(130), opened.failed);
    await inspector.close();
  } finally {
    await opened.close();
  }
  return 0;
}

/** An open source of messages. */
interface Opened {
  readonly name: string;
  readonly protocol: InspectedProtocol;
  readonly canSend: boolean;
  /** The address of the proxy. */
  readonly listening?: string | undefined;
  /** Rejects when the source fails. */
  readonly failed?: Promise<never> | undefined;
  readonly close: () => Promise<void>;
}

async function openSource(invocation: Run, source: string, feed: Feed): Promise<Opened> {
  if (source !== '-' && !isPostgres(source) && ADDRESS.test(source)) return openAddress(invocation, source, feed);
  const stop = new AbortController();
  if (source === '-') {
    readStream(invocation.stdin as AsyncIterable<Uint8Array>, feed).catch((thrown: unknown) => {
      feed.add({ side: 'log', session: '', kind: 'note', text: String(thrown) });
    });
    return { name: 'stdin', protocol: 'any', canSend: false, close: async () => stop.abort() };
  }
  if (isPostgres(source) || isDatabase(source)) {
    const store = await openLog(source).catch(async (thrown: unknown) => {
      if (isPostgres(source) || !isForeign(thrown)) throw thrown;
      await readSessions(source, feed).catch((other: unknown) => {
        throw isForeign(other)
          ? new UsageError(`${source} contains neither ARCP runtimes nor ACCP sessions`, 'store-foreign')
          : storeFault(other);
      });
      return undefined;
    });
    if (store === undefined) return { name: source, protocol: 'accp', canSend: false, close: async () => {} };
    const following = followStore(store, feed, stop.signal);
    const close = async (): Promise<void> => {
      stop.abort();
      await following.catch(() => undefined);
      await store.close();
    };
    const name = isPostgres(source) ? shownAddress(source) : source;
    return { name, protocol: 'arcp', canSend: false, failed: forever(following, name), close };
  }
  const following = followFile(source, feed, stop.signal);
  const close = async (): Promise<void> => {
    stop.abort();
    await following.catch(() => undefined);
  };
  return { name: source, protocol: 'any', canSend: false, failed: forever(following, source), close };
}

function isForeign(thrown: unknown): boolean {
  return (thrown as { readonly code?: unknown }).code === 'store-foreign';
}

/** Rejects with the error of the command when the reader fails, and never resolves. */
async function forever(following: Promise<void>, name: string): Promise<never> {
  try {
    await following;
  } catch (thrown) {
    throw unreadable(thrown, name);
  }
  return new Promise<never>(() => {});
}

async function openAddress({ options }: Run, address: string, feed: Feed): Promise<Opened> {
  const { token: secret, ca: file, 'server-name': serverName } = options;
  const name = shownAddress(address);
  const isFrames = options.protocol === 'accp' || (options.protocol === 'auto' && /accp/i.test(address));
  if (isFrames && /^https?:/i.test(address)) {
    addHttpFrames(address, feed, name, secret);
    return { name, protocol: 'accp', canSend: true, close: async () => {} };
  }
  const protocol = isFrames ? 'accp' : 'arcp';
  try {
    const dial = dialAddress(address, {
      protocol,
      token: secret,
      ca: file === undefined ? undefined : readText(file),
      serverName,
    });
    if (isFrames) {
      const close = await openRecorded(dial, feed, name);
      return { name, protocol, canSend: true, close };
    }
    const first = await connected(dial);
    const client = await openClient(async () => tapChannel(await first(), feed, name, 'server'), {
      auth: bearer(secret),
      // The page answers.
      onPermission: () => new Promise<never>(() => {}),
    });
    const close = async (): Promise<void> => {
      // A runtime that has ended does not answer, and the client waits for another one.
      const timer = setTimeout(() => void client.disconnect(), CLOSE_MS);
      await client.close().catch(() => client.disconnect());
      clearTimeout(timer);
    };
    return { name, protocol, canSend: true, close };
  } catch (thrown) {
    if (thrown instanceof TypeError)
      throw new UsageError(/^https?:/i.test(address) ? `${thrown.message}; ${HTTP_HELP}` : thrown.message);
    throw unreachable(thrown, address);
  }
}

async function openProxy({ options }: Run, to: string, feed: Feed): Promise<Opened> {
  const { host = '127.0.0.1', listen: port, origin: origins, insecure } = options;
  const proxy = await startProxy(feed, { host, port: port!, to, origins, insecure }).catch((thrown: unknown) => {
    throw notStarted(thrown);
  });
  // Over HTTP, there is no open connection to send on.
  if (/^https?:.*accp/i.test(to)) addHttpFrames(to, feed, shownAddress(to), options.token);
  return {
    name: `proxy to ${shownAddress(to)}`,
    protocol: 'any',
    canSend: true,
    listening: proxy.url,
    close: proxy.close,
  };
}
