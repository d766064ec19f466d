/** Stands between a client and a runtime, and cuts their connection after so many bytes, in the middle of whatever is on its way. */
import { connect, createServer, type Server, type Socket } from 'node:net';

export class CuttingProxy {
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  cuts = 0;

  /** @param bytes gives after how many bytes, of both directions together, the next connection is cut; infinite for never */
  constructor(from: string, to: string, bytes: () => number) {
    this.#server = createServer((client) => {
      const runtime = connect(to);
      let left = bytes();
      const cut = (): void => {
        client.destroy();
        runtime.destroy();
      };
      for (const [source, target] of [
        [client, runtime],
        [runtime, client],
      ] as const) {
        this.#sockets.add(source);
        source.on('close', cut).on('error', cut);
        source.on('data', (data) => {
          target.write(data.subarray(0, left));
          left -= data.length;
          if (left > 0) return;
          this.cuts++;
          // What was let through is to arrive: then it ends in the middle of something.
          setImmediate(cut);
          source.pause();
        });
      }
    });
    this.#server.listen(from);
  }

  async close(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}
