/**
 * The sandboxed frame: starts a worker from the code that the page sends, in place of any other, and passes messages between both. The worker
 * executes the code of grammars, so the page gets at most one reply for each request, of bounded length.
 */
let worker: Worker | null = null;
let requests = 0;

/** The maximum length of a reply as JSON; those of the engine are shorter. */
const MAX_REPLY = 500_000;

addEventListener('message', ({ data, source }: MessageEvent<{ readonly code?: string }>) => {
  if (source !== parent) return;
  if (typeof data.code !== 'string') {
    requests++;
    worker?.postMessage(data);
    return;
  }
  worker?.terminate();
  requests = 0;
  // Pages without an origin can only start workers from their own texts.
  worker = new Worker(URL.createObjectURL(new Blob([data.code], { type: 'text/javascript' })));
  worker.onmessage = (event: MessageEvent<{ readonly id?: unknown } | null>) => {
    if (requests === 0) return;
    requests--;
    const isLong = JSON.stringify(event.data).length > MAX_REPLY;
    const reply = isLong ? { id: event.data?.id, error: 'The result is too long.' } : event.data;
    parent.postMessage(reply, '*');
  };
});
parent.postMessage({ ready: true }, '*');
