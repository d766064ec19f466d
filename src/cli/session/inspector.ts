/** The inspector of a server: `pegwire serve --inspect` and `pegwire arcp serve --inspect`. */
import path from 'node:path';
import { Feed } from '../../inspector/feed.js';
import { type Home, type InspectedProtocol, inspectorPages, type Pages } from '../../inspector/pages.js';
import { pageUrl, randomToken } from '../../inspector/server.js';
import { checkText } from '../../inspector/sources.js';
import { UsageError } from '../io/errors.js';
import { packageRoot } from '../io/package.js';
import { flag } from '../options/option.js';

export const INSPECT_OPTIONS = {
  inspect: flag(
    'Serve a page at /inspect/ that shows the messages; its URL, with the token for it, is printed to stderr',
  ),
  'allow-send': flag('Let the page send messages as any side, and grant and deny permissions (with --inspect)'),
};

/** The pages of a server, and the feed of its messages. */
export interface ServerPages extends Pages {
  /** The messages to record; `undefined` without `--inspect`. */
  readonly feed: Feed | undefined;
  /** Returns the URL of the inspector. @param address a URL of the server */
  readonly urlAt: (address: string) => string;
}

interface Settings {
  readonly inspect: boolean;
  readonly 'allow-send': boolean;
  /** The token of the server, which is that of the page, too. */
  readonly token: string | undefined;
}

/** The folder of the built page. */
export function pageFolder(): string {
  return path.join(packageRoot(), 'dist/inspector');
}

/** Creates the pages of a server. @throws UsageError if options contradict each other */
export function serverPages(
  { inspect, 'allow-send': allowSend, token = randomToken() }: Settings,
  protocol: InspectedProtocol,
  home: () => Home | Promise<Home>,
): ServerPages {
  if (allowSend && !inspect) throw new UsageError('--allow-send requires --inspect');
  const feed = inspect ? new Feed({ check: checkText, maxRecords: 20_000, maxLength: 2 ** 24 }) : undefined;
  const source = `pegwire ${protocol === 'arcp' ? 'arcp serve' : 'serve'}`;
  const pages = inspectorPages({ feed, folder: pageFolder(), token, allowSend, source, protocol, home });
  const urlAt = (address: string): string =>
    pageUrl(new URL(address.replace(/^sse:/, '').replace(/^(?:ws|http2)(s?):/, 'http$1:')).origin, token);
  return { ...pages, feed, urlAt };
}
