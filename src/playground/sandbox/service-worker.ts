/** Keeps the files of the page, so that it works offline: the network first, and what was loaded before without it. */
declare const FILES: readonly string[];
declare const VERSION: string;

interface ExtendableEvent extends Event {
  readonly waitUntil: (promise: Promise<unknown>) => void;
}
interface FetchEvent extends ExtendableEvent {
  readonly request: Request;
  readonly respondWith: (response: Promise<Response>) => void;
}
interface Worker {
  readonly skipWaiting: () => Promise<void>;
  readonly clients: { readonly claim: () => Promise<void> };
  readonly addEventListener: (name: string, listener: (event: never) => void) => void;
}

const worker = globalThis as unknown as Worker;
const CACHE = `pegwire-playground-${VERSION}`;

worker.addEventListener('install', (event: ExtendableEvent) => {
  event.waitUntil(
    caches
      .open(CACHE)
      .then((cache) => cache.addAll([...FILES]))
      .then(() => worker.skipWaiting()),
  );
});

worker.addEventListener('activate', (event: ExtendableEvent) => {
  const clean = async (): Promise<void> => {
    for (const name of await caches.keys())
      if (name.startsWith('pegwire-playground-') && name !== CACHE) await caches.delete(name);
    await worker.clients.claim();
  };
  event.waitUntil(clean());
});

worker.addEventListener('fetch', (event: FetchEvent) => {
  const { request } = event;
  if (request.method !== 'GET') return;
  const answer = async (): Promise<Response> => {
    const cache = await caches.open(CACHE);
    try {
      const response = await fetch(request);
      if (response.ok) await cache.put(request, response.clone());
      return response;
    } catch (thrown) {
      const kept = await cache.match(request, { ignoreSearch: true });
      if (kept === undefined) throw thrown;
      return kept;
    }
  };
  event.respondWith(answer());
});
