import type { Receiver } from '../encoders/result.js';

/**
 * The option `receiver` after checks and defaults.
 *
 * @throws TypeError when it is no such option
 */
export function resolveReceiver(options: { readonly receiver?: Receiver | undefined }): {
  readonly knowsFields: boolean;
} {
  if (typeof options !== 'object' || options === null) throw new TypeError('options must be an object');
  const { receiver } = options;
  if (receiver === undefined) return { knowsFields: false };
  if (typeof receiver !== 'object' || receiver === null) throw new TypeError('receiver must be an object');
  const { knowsFields = false } = receiver;
  if (typeof knowsFields !== 'boolean') throw new TypeError('receiver.knowsFields must be true or false');
  return { knowsFields };
}
