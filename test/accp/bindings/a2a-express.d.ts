/** As much of Express as the tests use; it comes without types. */
declare module 'express' {
  import type { IncomingMessage, Server, ServerResponse } from 'node:http';

  export type RequestHandler = (request: IncomingMessage, response: ServerResponse, next: () => void) => void;

  export interface Application {
    use(path: string, handler: RequestHandler): void;
    listen(port: number, host: string): Server;
  }

  export default function express(): Application;
}
