/** Replays the messages at their original pace, or faster. */
import { useEffect, useState } from 'preact/hooks';
import type { FeedClient } from './feed-client.js';

const SPEEDS = [1, 10, 100, 1000] as const;
/** The longest pause between two messages, in milliseconds. */
const MAX_PAUSE_MS = 2000;
/** The pause between messages without a time, in milliseconds. */
const UNKNOWN_PAUSE_MS = 100;

export function Replay({ client }: { readonly client: FeedClient }) {
  const [isPlaying, setPlaying] = useState(false);
  const [speed, setSpeed] = useState<number>(10);
  const { messages, shown } = client;

  useEffect(() => {
    if (!isPlaying) return;
    let timer: ReturnType<typeof setTimeout>;
    const step = (): void => {
      const { messages: all, shown: at } = client;
      let next = at;
      let pause = 0;
      // Several messages of the same moment are shown at once.
      do {
        const [before, after] = [all[next - 1], all[next]];
        next++;
        const known = before !== undefined && after !== undefined && before.record.t > 0 && after.record.t > 0;
        pause = known ? after.record.t - before.record.t : UNKNOWN_PAUSE_MS;
        pause = Math.min(Math.max(pause / speed, 0), MAX_PAUSE_MS);
      } while (pause < 4 && next < all.length);
      timer = setTimeout(() => {
        client.show(next);
        if (client.limit === undefined) setPlaying(false);
        else step();
      }, pause);
    };
    step();
    return () => clearTimeout(timer);
  }, [isPlaying, speed, client]);

  useEffect(() => () => client.show(undefined), [client]);

  return (
    <div class="replay">
      <button
        type="button"
        onClick={() => {
          if (!isPlaying && client.limit === undefined) client.show(0);
          setPlaying(!isPlaying);
        }}
      >
        {isPlaying ? 'Pause' : 'Play'}
      </button>
      <input
        type="range"
        aria-label="Position in the log"
        min={0}
        max={messages.length}
        value={shown}
        onInput={(event) => {
          setPlaying(false);
          client.show(Number(event.currentTarget.value));
        }}
      />
      <output>
        {shown} / {messages.length}
      </output>
      <select aria-label="Speed" value={speed} onChange={(event) => setSpeed(Number(event.currentTarget.value))}>
        {SPEEDS.map((one) => (
          <option key={one} value={one}>
            {one}×
          </option>
        ))}
      </select>
    </div>
  );
}
