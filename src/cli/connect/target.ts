/** What `pegwire connect` connects to. */
import { FRAMES_PATH } from '../../accp/bindings/http/index.js';
import { UsageError } from '../options/command.js';

export interface Target {
  readonly url: string;
  readonly isWebSocket: boolean;
}

/** @throws UsageError on an address that is none, or of another kind */
export function readTarget(text: string): Target {
  if (!URL.canParse(text)) throw new UsageError(`"${text}" is no address: http://127.0.0.1:4711 is one`);
  const url = new URL(text);
  if (!/^(?:https?|wss?):$/.test(url.protocol))
    throw new UsageError(`connect takes http, https, ws and wss, not ${url.protocol.slice(0, -1)}`);
  if (url.username !== '' || url.password !== '')
    throw new UsageError('An address shows to everybody: give what is secret as --token, or PEGWIRE_TOKEN');
  if (url.pathname === '/') url.pathname = FRAMES_PATH;
  url.hash = '';
  return { url: url.href, isWebSocket: url.protocol.startsWith('ws') };
}
