/** The sandboxed frame: starts a worker from the code that the page sends, in place of any other, and passes messages between both. */
let worker: Worker | null = null;

addEventListener('message', ({ data, source }: MessageEvent<{ readonly code?: string }>) => {
  if (source !== parent) return;
  if (typeof data.code !== 'string') {
    worker?.postMessage(data);
    return;
  }
  worker?.terminate();
  // Pages without an origin can only start workers from their own texts.
  worker = new Worker(URL.createObjectURL(new Blob([data.code], { type: 'text/javascript' })));
  worker.onmessage = (event) => parent.postMessage(event.data, '*');
});
parent.postMessage({ ready: true }, '*');
