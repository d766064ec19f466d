/** Writing of server-sent events; `eventsource-parser` reads them. */

/** The media type of an event stream (WHATWG HTML, section 9.2.4). */
export const EVENT_STREAM = 'text/event-stream';

/** A comment, which keeps a connection open through proxies and has no other effect (WHATWG HTML, section 9.2.7). */
export const KEEP_ALIVE_COMMENT = ':\n\n';

/**
 * Writes one event. Text that contains line ends becomes several `data` lines, which the reader joins with LF (WHATWG HTML, section 9.2.6).
 *
 * @param id the identifier that a client returns as `Last-Event-ID`; it must not contain a line end or U+0000
 */
export function serverSentEvent(data: string, id?: string): string {
  const lines = data.includes('\n') || data.includes('\r') ? data.split(/\r\n|\r|\n/).join('\ndata: ') : data;
  return `${id === undefined ? '' : `id: ${id}\n`}data: ${lines}\n\n`;
}

/** The type of the first event of a channel; its data is `{"connection_id": ID}`. */
export const CONNECTION_EVENT = 'connection';
/** The type of the last event of a channel, after which clients do not connect again. */
export const END_EVENT = 'end';

/** The headers of a channel over server-sent events and POST, by the name of the protocol: `arcp-connection-id`. */
export function channelHeaders(protocol: string): { readonly connectionId: string; readonly sequence: string } {
  return { connectionId: `${protocol}-connection-id`, sequence: `${protocol}-sequence` };
}
