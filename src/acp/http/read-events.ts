import { createParser } from 'eventsource-parser';

/** An event of a stream. */
export interface StreamEvent {
  readonly data: string;
  /** Its identifier, if the stream can be continued. */
  readonly id: string | undefined;
}

/** The error of an event that is longer than the limit. */
export class TooLongError extends Error {
  /** The beginning of the event. */
  readonly beginning: string;

  constructor(beginning: string) {
    super('an event is too long');
    this.beginning = beginning;
  }
}

/** Characters of an event besides its data: the names of fields, the identifier and line ends. */
const MAX_FIELDS = 1024;

/**
 * Reads the events of a response, one at a time: the next bytes are read when the events before them are taken. The generator returns at the
 * end of the response.
 *
 * @param onData called when bytes have arrived, those of comments included
 * @throws TooLongError if an event has more than `maxLength` characters
 * @throws Error if the connection is lost
 */
export async function* readEvents(
  body: ReadableStream<Uint8Array>,
  maxLength: number,
  onData: () => void,
): AsyncGenerator<StreamEvent> {
  const events: StreamEvent[] = [];
  const parser = createParser({
    onEvent: ({ data, id }) => events.push({ data, id }),
    maxBufferSize: maxLength + MAX_FIELDS,
    onError: (error) => {
      if (error.type === 'max-buffer-size-exceeded') throw new TooLongError(error.value ?? '');
    },
  });
  const reader = body.getReader();
  const decoder = new TextDecoder('utf-8', { fatal: true });
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      onData();
      parser.feed(decoder.decode(value, { stream: true }));
      for (const event of events.splice(0)) {
        if (event.data.length > maxLength) throw new TooLongError(event.data);
        yield event;
      }
    }
  } finally {
    void reader.cancel().catch(() => undefined);
  }
}
