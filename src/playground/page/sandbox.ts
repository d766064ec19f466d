/** The frame without an origin, in whose worker the code of grammars runs. */
import { Client } from './client.js';
import { h } from './dom.js';

/** Milliseconds to wait for the frame: less than a task may take, whose grammar would be blamed. */
const LOADING_MS = 3_500;

let frame: HTMLIFrameElement | undefined;
let loaded: Promise<void> | undefined;

/** Loads the frame. It cannot be loaded offline, so the page does it early; the worker and its code come later. */
export function prepareFrame(): Promise<void> {
  loaded ??= new Promise((resolve) => {
    frame = h('iframe', { sandbox: 'allow-scripts', src: 'frame.html', title: 'Sandbox of grammars', hidden: true });
    const onReady = ({ data, source }: MessageEvent<{ readonly ready?: boolean }>): void => {
      if (source !== frame!.contentWindow || data.ready !== true) return;
      removeEventListener('message', onReady);
      resolve();
    };
    addEventListener('message', onReady);
    document.body.append(frame);
  });
  return loaded;
}

/** Creates the client of the frame. Each port is a new worker, in a new frame if that of the port before has failed. */
export function sandbox(): Client {
  return new Client(
    (receive, fail) => {
      const post = (message: unknown): void => frame?.contentWindow?.postMessage(message, '*');
      const onMessage = ({ data, source }: MessageEvent): void => {
        if (source === frame?.contentWindow) receive(data);
      };
      const start = async (): Promise<void> => {
        const [response] = await Promise.all([fetch('engine.js'), prepareFrame()]);
        const code = await response.text();
        addEventListener('message', onMessage);
        post({ code });
      };
      let isClosed = false;
      const started = start();
      const missing = (): void => fail('The frame for grammars could not be loaded: it needs the server of this page.');
      const timer = setTimeout(missing, LOADING_MS);
      started.then(() => clearTimeout(timer), missing);
      return {
        post: (message) => void started.then(() => isClosed || post(message)),
        close: () => {
          isClosed = true;
          clearTimeout(timer);
          removeEventListener('message', onMessage);
          // Ends a worker that is busy forever, and drops the messages that it has posted.
          frame?.remove();
          frame = undefined;
          loaded = undefined;
        },
      };
    },
    {
      tooLong:
        'the grammar does not end on this text. Its code may loop, or its rules try too many alternatives; change the grammar.',
      patienceMs: 1_000,
    },
  );
}
