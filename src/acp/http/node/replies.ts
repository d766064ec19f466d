// biome-ignore-all lint/correctness/noNodejsModules: servers require Node
import type { AnyResponse } from '../../../channels/node/http-server.js';
import type { EventSink } from '../outbox.js';
import { JSON_TYPE } from '../protocol.js';

/** Sends a response without a body. */
export function replyEmpty(response: AnyResponse, status: number): void {
  response.statusCode = status;
  response.setHeader('cache-control', 'no-store');
  response.end();
}

/** Sends a JSON text that caches must not store. */
export function replyJson(response: AnyResponse, status: number, text: string): void {
  response.statusCode = status;
  response.setHeader('content-type', JSON_TYPE);
  response.setHeader('cache-control', 'no-store');
  response.end(text);
}

type Write = (text: string, encoding: 'utf8', done: (error?: Error | null) => void) => boolean;

/** Makes a response the reader of a stream. */
export function sinkOf(response: AnyResponse): EventSink {
  const isOpen = (): boolean => !(response.destroyed || response.writableEnded);
  return {
    write: (text, done) =>
      isOpen() && (response.write as Write).call(response, text, 'utf8', (error) => done((error ?? null) === null)),
    end: () => {
      if (isOpen()) response.end();
    },
    destroy: () => {
      response.destroy();
    },
  };
}
