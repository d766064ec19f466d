/** A stream that nobody reads. */
import { newId } from '../../protocol/ids.js';
import type { StreamKind } from '../../protocol/payloads/stream.js';
import type { StreamWriter } from '../../streams/contract.js';

export function silentStream<K extends StreamKind>(kind: K): StreamWriter<K> {
  const nothing = async (): Promise<void> => {};
  return { id: newId('str'), kind, write: nothing, close: nothing, fail: nothing };
}
