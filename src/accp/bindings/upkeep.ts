/** What passes between two sides to keep a session going: the codec and the bindings see to it, and no host is told. */
import type { Message } from '../message/message.js';

const INTENTS: ReadonlySet<string> = new Set(['ping', 'pong', 'ack']);
/** Operations of `sync` that the codec answers. */
const SYNC_OPERATIONS: ReadonlySet<string> = new Set(['registry', 'state', 'resync']);

/** Reports of a gap (E3003) among it, which are answered by sending again what was lost. */
export function isUpkeep({ intent, operation, payload }: Message): boolean {
  if (intent === 'sync') return SYNC_OPERATIONS.has(operation);
  return INTENTS.has(intent) || (intent === 'fail' && operation === 'error' && payload['code'] === 'E3003');
}
