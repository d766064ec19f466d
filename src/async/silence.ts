import { every } from './timers.js';

/** A watch over something that should be heard regularly. */
export interface SilenceWatch {
  /** Records a sign of life. */
  readonly heard: () => void;
  /** Ends the watch. */
  readonly stop: () => void;
}

/** The number of checks in the time of silence. */
const CHECKS = 3;

/**
 * Calls a function once, when nothing was heard for some time.
 *
 * @param silenceMs milliseconds of silence; up to a third more may pass. `Infinity` is never
 * @param isListening returns `false` while nothing can be heard, which does not count as silence
 */
export function watchSilence(silenceMs: number, isListening: () => boolean, onSilence: () => void): SilenceWatch {
  let silentChecks = 0;
  let hasHeard = false;
  const stop = every(Math.ceil(silenceMs / CHECKS), () => {
    silentChecks = isListening() && !hasHeard ? silentChecks + 1 : 0;
    hasHeard = false;
    if (silentChecks < CHECKS) return;
    stop();
    onSilence();
  });
  return {
    heard: () => {
      hasHeard = true;
    },
    stop,
  };
}
