/** How fast a client wants its streams (spec 003, "Streams": "Streams MUST support backpressure signaling"). */
import type { Envelope } from '../../protocol/envelope.js';
import { paceOf } from '../../streams/pacer.js';
import type { Carrier } from '../core.js';
import type { Commanded } from './commanded.js';

/** Of one stream, or of all. Of a stream that has ended it says nothing any more. */
export async function backpressure(
  { engine, session }: Carrier,
  { stream_id, payload }: Envelope<'backpressure'>,
): Promise<Commanded> {
  const pace = paceOf(payload);
  if (stream_id === undefined) engine.streams.paceSession(session.id, pace);
  else engine.streams.paceStream(stream_id, session, pace);
  return {};
}
