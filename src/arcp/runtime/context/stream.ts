/** Streams that jobs write. Each chunk is stored before it is sent. */
import { ArcpError } from '../../protocol/errors.js';
import { newId } from '../../protocol/ids.js';
import type { StreamKind } from '../../protocol/payloads/streaming.js';
import type { RecordChange } from '../../store/store.js';
import type { StreamOptions, StreamWriter } from '../../streams/content.js';
import { ChunkWriter } from '../../streams/writer.js';
import type { Attempt } from '../job/attempt.js';

/** Returns the scope of the open streams of a job. The next attempt ends those of a lost one. */
export const openStreamsOf = (jobId: string): string => `stream:${jobId}`;

/** The scope of the jobs of open streams, by the ids of the streams. */
export const JOB_OF_STREAM = 'stream';

/** Returns the changes that remove the records of a stream. */
export function forgetStream(jobId: string, streamId: string): readonly RecordChange[] {
  return [
    { scope: openStreamsOf(jobId), key: streamId, value: null },
    { scope: JOB_OF_STREAM, key: streamId, value: null },
  ];
}

export function openJobStream<K extends StreamKind>(
  attempt: Attempt,
  options: StreamOptions<K>,
  onEnd: () => void,
): ChunkWriter<K> {
  const { row, spec, outbox, messages, signal, host } = attempt;
  const { streams } = host;
  const { jobId, sessionId, principal } = row;
  if (options.kind === 'binary' && spec.streams !== 'all')
    throw new ArcpError(
      'UNIMPLEMENTED',
      'The client does not support binary streams; use text, or a client that negotiates binary_streams',
    );
  const rateLimiter = streams.rateLimiterFor(sessionId);
  const stream: ChunkWriter<K> = new ChunkWriter(
    {
      rateLimiter,
      signal,
      drained: () => host.drained(sessionId),
      open: (streamId, payload) => {
        const related_job_id = spec.isDurable ? jobId : undefined;
        void outbox.add({
          events: [messages.event('stream.open', { ...payload, related_job_id }, { streamId })],
          records: [
            { scope: openStreamsOf(jobId), key: streamId, value: options.kind, owner: jobId },
            { scope: JOB_OF_STREAM, key: streamId, value: jobId, owner: jobId },
          ],
        });
      },
      chunk: (streamId, payload) => outbox.add({ events: [messages.event('stream.chunk', payload, { streamId })] }),
      end: (streamId, type, payload) => {
        streams.remove(streamId);
        onEnd();
        return outbox.add({
          events: [messages.event(type, payload as never, { streamId })],
          records: forgetStream(jobId, streamId),
        });
      },
    },
    options,
  );
  streams.add(stream.id, { sessionId, principal, rateLimiter, cancel: (error) => stream.cancel(error) });
  return stream;
}

export function silentStream<K extends StreamKind>(kind: K): StreamWriter<K> {
  const nothing = async (): Promise<void> => {};
  return { id: newId('str'), kind, write: nothing, close: nothing, fail: nothing };
}
