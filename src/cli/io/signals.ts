import process from 'node:process';

/** Closes a service at the first SIGINT or SIGTERM, or when `other` resolves; a second signal terminates it. */
export async function endBySignal(
  close: () => Promise<void>,
  terminate: () => void,
  other?: Promise<unknown>,
): Promise<void> {
  let end = (): void => {};
  await new Promise<void>((resolve) => {
    end = () => resolve();
    process.on('SIGINT', end).on('SIGTERM', end);
    void other?.then(end);
  });
  process.off('SIGINT', end).off('SIGTERM', end);
  process.on('SIGINT', terminate).on('SIGTERM', terminate);
  await close();
  process.off('SIGINT', terminate).off('SIGTERM', terminate);
}
