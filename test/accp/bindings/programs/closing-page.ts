/** The program of a page, and of a Node process with the global WebSocket. */
import { closeAll } from './closing.js';

const { target, location } = globalThis as { readonly target?: string; readonly location?: { readonly host: string } };
const base = target ?? `ws://${location?.host}`;
const failure = await closeAll((path) => new WebSocket(base + path)).catch((thrown: unknown) => `threw ${thrown}`);
const last = new WebSocket(`${base}/outcome`);
last.onopen = () => {
  last.send(failure);
  last.close();
};
