// biome-ignore-all lint/correctness/noNodejsModules: servers require Node
import { Buffer } from 'node:buffer';
import { textOfBytes } from '../../../channels/media-type.js';
import type { AnyRequest, AnyResponse } from '../../../channels/node/http-server.js';
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

/** The body of a request, or the reason for which it cannot be read. */
export type Body = { readonly text: string } | { readonly fault: 'too-long' | 'not-utf8' | 'cut' };

/** Reads the body of a request. The rest of one that is too long is discarded. */
export function readBody(request: AnyRequest, maxBytes: number): Promise<Body> {
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    let bytes = 0;
    request.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes <= maxBytes) chunks.push(chunk);
      else {
        chunks.length = 0;
        resolve({ fault: 'too-long' });
      }
    });
    request.on('end', () => {
      const text = textOfBytes(Buffer.concat(chunks));
      resolve(text === null ? { fault: 'not-utf8' } : { text });
    });
    request.on('error', () => resolve({ fault: 'cut' }));
    request.on('close', () => resolve({ fault: 'cut' }));
  });
}

type Write = (text: string, encoding: 'utf8', done: () => void) => boolean;

/** Makes a response the reader of a stream. */
export function sinkOf(response: AnyResponse): EventSink {
  const isOpen = (): boolean => !(response.destroyed || response.writableEnded);
  return {
    write: (text, done) => isOpen() && (response.write as Write).call(response, text, 'utf8', () => done()),
    backlog: () => (isOpen() ? response.writableLength : 0),
    end: () => {
      if (isOpen()) response.end();
    },
    destroy: () => {
      response.destroy();
    },
  };
}
