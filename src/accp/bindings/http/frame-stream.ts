/** Frames as the body of a response (draft-benzing-accp-00, section 11.1: one frame per chunk). */
import { Stretch } from '../stretch.js';

export interface FrameStreamOptions {
  /** The frame that was read already, to see what the response is to say. */
  readonly first: string;
  readonly frames: AsyncIterator<string>;
  /** The last frame, when the source throws. */
  readonly failed: (thrown: unknown) => string | null;
  /** The stream has come to its end, or has been left by its reader. */
  readonly over: (reason: 'read' | 'left') => void;
}

const UTF8 = new TextEncoder();

/**
 * One chunk for each frame, with a line end, since the borders of chunks get lost on the way. The source is asked for the next
 * frame when the one before is gone, and not earlier.
 */
export function frameStream({ first, frames, failed, over }: FrameStreamOptions): ReadableStream<Uint8Array> {
  let waiting: Step | undefined = { frame: first, isLast: false };
  const stretch = new Stretch();
  const read = async (): Promise<Step> => {
    try {
      const { done, value } = await frames.next();
      return done === true ? { frame: null, isLast: true } : { frame: value, isLast: false };
    } catch (thrown) {
      return { frame: failed(thrown), isLast: true };
    }
  };
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const { frame, isLast } = waiting ?? (await read());
        waiting = undefined;
        await stretch.next();
        if (isLast) over('read');
        if (frame !== null) controller.enqueue(UTF8.encode(`${frame}\n`));
        if (isLast) controller.close();
      },
      async cancel() {
        over('left');
        await frames.return?.();
      },
    },
    // Nothing is kept in store.
    { highWaterMark: 0 },
  );
}

interface Step {
  readonly frame: string | null;
  readonly isLast: boolean;
}
