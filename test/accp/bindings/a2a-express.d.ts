/** The part of Express that the tests use; it has no types. */
declare module 'express' {
  import type { IncomingMessage, Server, ServerResponse } from 'node:http';

  export type RequestHandler = (request: IncomingMessage, response: ServerResponse, next: () => void) => void;

  export interface Application {
    use(path: string, handler: RequestHandler): void;
    listen(port: number, host: string): Server;
  }

  export default function express(): Application;
}
