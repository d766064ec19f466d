/** The next turn of the event loop, in which all that waits for a promise of this one has run. */

interface Platform {
  readonly setImmediate?: (run: () => void) => unknown;
  readonly MessageChannel: new () => {
    readonly port1: { onmessage: (() => void) | null; readonly close: () => void };
    readonly port2: { readonly postMessage: (value: null) => void };
  };
}

/** Runs it in the next turn; browsers have no `setImmediate`, and their timers wait for milliseconds. */
export function nextTurn(run: () => void): void {
  const { setImmediate, MessageChannel } = globalThis as unknown as Platform;
  if (setImmediate !== undefined) {
    setImmediate(run);
    return;
  }
  const { port1, port2 } = new MessageChannel();
  port1.onmessage = () => {
    port1.close();
    run();
  };
  port2.postMessage(null);
}
