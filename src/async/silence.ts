import { every, everyUnref } from './timers.js';

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

/** A watch over the answers to pings. */
export interface PingWatch {
  /** Records the answer. */
  readonly answered: () => void;
  /** Ends the watch. */
  readonly stop: () => void;
}

/**
 * Sends pings, and calls a function once, when one is not answered before the next. The timer does not keep the process alive.
 *
 * @param intervalMs milliseconds between two pings. `Infinity` is never
 * @param ping sends a ping; returns `false` if no answer can be expected
 */
export function watchPings(intervalMs: number, ping: () => boolean, onSilence: () => void): PingWatch {
  let isAwaited = false;
  let checks = 0;
  // A pause of this process counts as one check, so an answer that came meanwhile is read before it is missed.
  const stop = everyUnref(Math.ceil(intervalMs / CHECKS), () => {
    if (++checks < CHECKS) return;
    checks = 0;
    if (!isAwaited) isAwaited = ping();
    else {
      stop();
      onSilence();
    }
  });
  return {
    answered: () => {
      isAwaited = false;
    },
    stop,
  };
}
