/** Runs `pegwire serve` on a free port, as a program. */
import type { ChildProcessWithoutNullStreams } from 'node:child_process';
import { type Ended, ended, start } from '../../../helpers/child.js';

export interface Serving {
  readonly http: string;
  readonly ws: string;
  readonly child: ChildProcessWithoutNullStreams;
  /** The result of the process. */
  readonly over: Promise<Ended>;
  /** Resolves when stderr contains the text. */
  readonly noted: (text: string) => Promise<void>;
  readonly stop: (signal?: NodeJS.Signals) => Promise<Ended>;
}

/** @param program what starts the command line */
export async function serving(
  program: readonly string[],
  args: readonly string[] = [],
  env: NodeJS.ProcessEnv = {},
): Promise<Serving> {
  const child = start([...program, 'serve', '--port', '0', ...args], { env });
  const over = ended(child);
  let stdout = '';
  let stderr = '';
  let wake: () => void = () => undefined;
  child.stdout.on('data', (chunk) => {
    stdout += chunk;
    wake();
  });
  child.stderr.on('data', (chunk) => {
    stderr += chunk;
    wake();
  });
  let isOver = false;
  child.on('close', () => {
    isOver = true;
    wake();
  });
  const until = async (isThere: () => boolean): Promise<void> => {
    while (!isThere()) {
      if (isOver) throw new Error(`The server has ended: ${stdout}${stderr}`);
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
    }
  };
  const isJson = args.includes('--json');
  await until(() => stdout.split('\n').length > (isJson ? 1 : 2));
  const [http, ws] = isJson ? addressesOf(JSON.parse(stdout)) : stdout.split('\n');
  return {
    ...{ http: http!, ws: ws!, child, over },
    noted: (text) => until(() => stderr.includes(text)),
    stop: (signal = 'SIGTERM') => {
      child.kill(signal);
      return over;
    },
  };
}

function addressesOf({ http, ws }: { readonly http: string; readonly ws: string }): readonly string[] {
  return [http, ws];
}
