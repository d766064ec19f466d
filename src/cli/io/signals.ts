import process from 'node:process';

/**
 * Lets SIGINT and SIGTERM end a service: the first one in order, the second one at once.
 *
 * @param close ends in order, and resolves when all is over
 * @param terminate ends at once
 * @param other ends in order, too, when it resolves
 */
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
