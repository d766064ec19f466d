import { once } from 'node:events';
import process from 'node:process';

/** Closes a service at the first SIGINT or SIGTERM, or when `other` resolves; terminates it at the second signal. */
export async function endBySignal(
  close: () => Promise<void>,
  terminate: () => void,
  other?: Promise<unknown>,
): Promise<void> {
  const ended = new AbortController();
  const signals = ['SIGINT', 'SIGTERM'].map((name) => once(process, name, { signal: ended.signal }));
  await Promise.race(other === undefined ? signals : [...signals, other]);
  ended.abort();
  process.on('SIGINT', terminate).on('SIGTERM', terminate);
  await close();
  process.off('SIGINT', terminate).off('SIGTERM', terminate);
}
