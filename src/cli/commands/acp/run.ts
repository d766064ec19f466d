import { constants } from 'node:os';
import process from 'node:process';
import { Writable } from 'node:stream';
import {
  type AgentProcess,
  byteChannel,
  type Channel,
  ConnectionError,
  type Exit,
  launchAgent,
} from '../../../acp/index.js';
import { after } from '../../../async/timers.js';
import { visible } from '../../../text/visible.js';
import { UsageError } from '../../io/errors.js';
import { errorJson } from '../../io/json.js';
import { labelled } from '../../io/output.js';
import { defineCommand, type Invocation } from '../../options/command.js';
import { choice, duration, text, value } from '../../options/option.js';
import { LISTEN_OPTIONS, refuseListenOptions, serveAgents } from './listen.js';
import { openMessageLog, relay } from './session.js';

const OPTIONS = {
  ...LISTEN_OPTIONS,
  batches: choice(
    'NAME',
    'split (default): Send the messages of a batch one by one, and return one array of responses; pass: Send batches unchanged',
    ['split', 'pass'],
  ),
  log: text('FILE', 'Append the messages of both sides to this file, one JSON object per line'),
  grace: value('DURATION', 'After the input ends, wait this long for the agent to exit (default: 10s)', duration()),
};

export const command = defineCommand({
  takes: { words: '-- CMD [ARG...]' },
  options: OPTIONS,
  details: [
    'Starts CMD and relays messages between it and the client on stdin and stdout. Messages are relayed unchanged. Text that is not a ' +
      'message is not relayed: the client receives a JSON-RPC error for its own, and that of the agent is printed to stderr, as is the ' +
      'stderr of the agent.',
    'SIGINT, SIGTERM, SIGHUP and SIGQUIT are sent to the agent and its children. When the agent has exited, the client may take as long as ' +
      '--grace to read the rest, but at most one second after a signal.',
    'With --listen, serves clients over HTTP and WebSocket instead, at the path /acp, and prints the URLs to stderr. Each connection has an ' +
      'agent of its own: the end of one is the end of the other. SIGINT or SIGTERM closes the connections after what was sent, and ends the ' +
      'input of the agents; a second signal ends both at once. The exit code is 0.',
  ],
  exitCodes:
    'The exit code is that of the agent; 128 plus the number of the signal that ended it; 2 for incorrect usage or if the agent cannot be ' +
    'started; or 70 for an internal error.',
  example: [
    'pegwire acp run --log messages.jsonl -- my-agent --acp',
    'pegwire acp run --listen 4712 -- my-agent --acp',
  ],
  run,
});

/** Milliseconds for the client to read the rest after a signal. */
const SIGNAL_GRACE_MS = 1000;

async function run(invocation: Invocation<typeof OPTIONS>): Promise<number> {
  const [command, ...args] = invocation.words;
  if (command === undefined) throw new UsageError('acp run requires a program: pegwire acp run -- CMD [ARG...]');
  const { batches, grace: graceMs = 10_000, log: file, listen } = invocation.options;
  if (listen === undefined) refuseListenOptions(invocation.given);
  const note = (code: string, text: string): void => {
    const { json, output } = invocation;
    void output.note(json ? errorJson(code, text) : labelled('warning', code, visible(text), output.paintNote));
  };
  const log = openMessageLog(file, (reason) =>
    note('log', `Cannot write ${file}: ${reason}; continuing without the log`),
  );
  const session = { batches, graceMs, log, note };
  try {
    if (listen !== undefined) return await serveAgents(invocation, listen, { command, args }, session);
    const agent = await launched(command, args);
    const client = byteChannel(process.stdin, output());
    const signals = forwardSignals(agent);
    const isWhole = await relay(client, agent, session);
    const exit = await agent.close();
    const isFlushed = await flushed(client, signals, graceMs);
    client.destroy();
    signals.release();
    const code = isWhole && isFlushed ? codeOf(exit) : codeOf(exit) || 1;
    if (isFlushed) return code;
    log.close();
    // Unread output would keep the process alive.
    process.exit(code);
  } finally {
    log.close();
  }
}

async function launched(command: string, args: readonly string[]): Promise<AgentProcess> {
  try {
    return await launchAgent(command, args, { stderr: 'forward' });
  } catch (thrown) {
    if (!(thrown instanceof ConnectionError)) throw thrown;
    throw new UsageError(thrown.message.replace(/\.$/, ''), 'target');
  }
}

/** Wraps stdout, which must not be ended, since the process writes to it, too. */
function output(): Writable {
  return new Writable({
    decodeStrings: false,
    write: (chunk: string, _encoding, done) => void process.stdout.write(chunk, () => done()),
  });
}

/** Waits until the client has read everything, the grace period is over, or a signal arrives. @returns `true` if it has read everything */
async function flushed(client: Channel, signals: ReturnType<typeof forwardSignals>, graceMs: number): Promise<boolean> {
  let stop!: () => void;
  const late = new Promise<false>((resolve) => {
    stop = after(signals.haveArrived() ? Math.min(graceMs, SIGNAL_GRACE_MS) : graceMs, () => resolve(false));
  });
  const isFlushed = await Promise.race([client.end().then(() => true), late, signals.next().then(() => false)]);
  stop();
  return isFlushed;
}

/** Returns the exit code; 128 plus the number of the signal, as in shells. */
function codeOf({ code, signal }: Exit): number {
  return signal === null ? (code ?? 0) : 128 + constants.signals[signal];
}

// The agent leads its own process group, so that signals of the terminal do not reach it.

const ON_WINDOWS = process.platform === 'win32';
const SIGNALS: readonly NodeJS.Signals[] = ['SIGINT', 'SIGTERM', 'SIGHUP', ...(ON_WINDOWS ? [] : ['SIGQUIT' as const])];

/** Forwards signals to the process group of the agent, then closes it. */
function forwardSignals(agent: AgentProcess) {
  let count = 0;
  let notify: (() => void) | undefined;
  const forward = (signal: NodeJS.Signals): void => {
    count++;
    try {
      process.kill(ON_WINDOWS ? agent.pid : -agent.pid, signal);
    } catch (thrown) {
      // ESRCH: the group has ended; EPERM: its processes wait to be reaped.
      if (!/^(?:ESRCH|EPERM)$/.test((thrown as NodeJS.ErrnoException).code ?? '')) throw thrown;
    }
    void agent.close();
    notify?.();
  };
  for (const signal of SIGNALS) process.on(signal, forward);
  return {
    haveArrived: () => count > 0,
    next: () =>
      new Promise<void>((resolve) => {
        notify = resolve;
      }),
    release: () => {
      for (const signal of SIGNALS) process.off(signal, forward);
    },
  };
}
