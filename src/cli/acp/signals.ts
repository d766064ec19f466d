/** Signals that end the program, and are to end the agent: it leads a group of its own, so that none comes to it by itself. */
import process from 'node:process';
import type { AgentProcess } from '../../acp/index.js';

const ON_WINDOWS = process.platform === 'win32';
const SIGNALS: readonly NodeJS.Signals[] = ON_WINDOWS
  ? ['SIGINT', 'SIGTERM', 'SIGHUP']
  : ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT'];

export interface PassedSignals {
  /** Whether one has come. */
  readonly haveCome: () => boolean;
  /** Resolves when the next one comes. */
  readonly next: () => Promise<void>;
  readonly release: () => void;
}

/** A signal goes to the agent and all that it has started, which stays or ends as it likes; then it is ended. */
export function passSignalsOn(agent: AgentProcess): PassedSignals {
  let count = 0;
  let told: (() => void) | undefined;
  const passOn = (signal: NodeJS.Signals): void => {
    count++;
    try {
      process.kill(ON_WINDOWS ? agent.pid : -agent.pid, signal);
    } catch (thrown) {
      // All of them have ended; EPERM is what a group has whose processes wait to be reaped.
      if (!/^(?:ESRCH|EPERM)$/.test((thrown as NodeJS.ErrnoException).code ?? '')) throw thrown;
    }
    void agent.close();
    told?.();
  };
  for (const signal of SIGNALS) process.on(signal, passOn);
  return {
    haveCome: () => count > 0,
    next: () =>
      new Promise((resolve) => {
        told = resolve;
      }),
    release: () => {
      for (const signal of SIGNALS) process.off(signal, passOn);
    },
  };
}
