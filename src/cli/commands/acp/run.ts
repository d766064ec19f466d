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
import { NO_FILE, openLines } from '../../io/files.js';
import { errorJson } from '../../io/json.js';
import { defineCommand, type Invocation } from '../../options/command.js';
import { choice, duration, text, value } from '../../options/option.js';
import { Relay, type Side } from './relay.js';

const OPTIONS = {
  batches: choice(
    'NAME',
    'split (default): the agent gets the messages of a batch one by one, and its answers are collected; pass: it gets ' +
      'batches as they are',
    ['split', 'pass'],
  ),
  log: text('FILE', 'add all messages of both sides to it, as JSON lines'),
  grace: value(
    'DURATION',
    'Once the input has ended, wait this long for the agent to exit (default: 10s).',
    duration(),
  ),
};

type Run = Invocation<typeof OPTIONS>;

export const command = defineCommand({
  takes: { words: '-- CMD [ARG...]' },
  options: OPTIONS,
  details: [
    'Starts CMD, and stands between it and whoever started pegwire: messages are passed on as they are, what is no message is ' +
      'not. The client is answered as JSON-RPC says; what the agent prints is told on stderr, and so is its log.',
    'SIGINT, SIGTERM, SIGHUP and SIGQUIT go to the agent with all that it has started. What the client has not read by then is waited ' +
      'for as long as the grace says, and after a signal for a second.',
  ],
  exitCodes:
    "The exit code is the agent's; 128 and the number of the signal where one ended it; 2 where it cannot be started, or the usage is " +
    'wrong; 70 for a defect of pegwire.',
  example: 'pegwire acp run --log messages.jsonl -- my-agent --acp',
  run,
});

const SHOWN = 200;
/** Reports in a row of texts that are not messages. */
const MAX_TOLD = 100;
/** Milliseconds for the client to read the rest after a signal. */
const LAST = 1000;

async function run(invocation: Run): Promise<number> {
  const [command, ...args] = invocation.words;
  if (command === undefined) throw new UsageError('acp run needs a program: pegwire acp run -- CMD [ARG...]');
  const { batches, grace: graceMs = 10_000, log: file } = invocation.options;
  const note = (code: string, text: string): void => {
    const { json, output } = invocation;
    void output.note(json ? errorJson(code, text) : `${output.paintNote('yellow', 'pegwire:')} ${visible(text)}`);
  };
  const log = openMessageLog(file, (why) => note('log', `${file} is not written on: ${why}`));
  try {
    const agent = await launched(command, args);
    const client = byteChannel(process.stdin, output());
    let told = 0;
    const relayed = new Promise<boolean>((resolve) => {
      const relay = new Relay(client, agent.channel, {
        batches,
        passed: (from, text) => {
          if (from !== 'pegwire') told = 0;
          log.message(from, text);
        },
        refused: (from, why, text) => {
          log.refused(from, why, text);
          if (++told > MAX_TOLD) return;
          const quote = text === '' ? '' : `: ${text.slice(0, SHOWN)}`;
          note('not-a-message', `not passed on, from the ${from}: ${why}${quote}`);
          if (told === MAX_TOLD) note('not-a-message', 'More of them are not told, until a message comes.');
        },
        ended: (side, error) => {
          if (side === 'agent') {
            if (error !== undefined && !isExit(error)) note('agent', `the agent: ${error.message}`);
            resolve(error === undefined || isExit(error));
          } else void endAgent(agent, graceMs);
        },
      });
      relay.start();
    });
    const signals = passSignalsOn(agent);
    const isWhole = await relayed;
    const exit = await agent.close();
    const isTold = await flushed(client, signals, graceMs);
    client.destroy();
    signals.release();
    const code = isWhole && isTold ? codeOf(exit) : codeOf(exit) || 1;
    if (isTold) return code;
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

/** Wraps stdout, which must not be ended: the process writes there, too. */
function output(): Writable {
  return new Writable({
    decodeStrings: false,
    write: (chunk: string, _encoding, done) => void process.stdout.write(chunk, () => done()),
  });
}

/** Ends the input of the agent, and the agent itself after the grace. */
async function endAgent(agent: AgentProcess, graceMs: number): Promise<void> {
  void agent.channel.end();
  const stop = after(graceMs, () => void agent.close());
  await agent.exited;
  stop();
}

/** Waits until the client has read everything, the grace is over, or a signal comes. @returns whether it read everything */
async function flushed(client: Channel, signals: ReturnType<typeof passSignalsOn>, graceMs: number): Promise<boolean> {
  let stop!: () => void;
  const late = new Promise<false>((resolve) => {
    stop = after(signals.haveCome() ? Math.min(graceMs, LAST) : graceMs, () => resolve(false));
  });
  const isTold = await Promise.race([client.end().then(() => true), late, signals.next().then(() => false)]);
  stop();
  return isTold;
}

/** The exit code already reports the end of the process. */
function isExit(error: Error): boolean {
  return error instanceof ConnectionError && error.code === 'closed';
}

/** 128 and the number of the signal, as in shells. */
function codeOf({ code, signal }: Exit): number {
  return signal === null ? (code ?? 0) : 128 + constants.signals[signal];
}

/** Opens the log, which only its owner may read. @throws UsageError */
function openMessageLog(file: string | undefined, failed: (why: string) => void) {
  const lines = file === undefined ? NO_FILE : openLines(file, 'a', failed);
  const write = (from: string, rest: string): void => {
    lines.write(`{"at":"${new Date().toISOString()}","from":"${from}",${rest}}`);
  };
  return {
    // The text is JSON already; printing it again could lose digits.
    message: (from: Side | 'pegwire', message: string) => write(from, `"message":${message}`),
    refused: (from: Side, why: string, refused: string) =>
      write(from, `"rejected":${JSON.stringify(why)},"text":${JSON.stringify(refused)}`),
    close: lines.close,
  };
}

// The agent leads its own process group, so that signals of the terminal do not reach it.

const ON_WINDOWS = process.platform === 'win32';
const SIGNALS: readonly NodeJS.Signals[] = ['SIGINT', 'SIGTERM', 'SIGHUP', ...(ON_WINDOWS ? [] : ['SIGQUIT' as const])];

/** Passes signals to the process group of the agent, then closes it. */
function passSignalsOn(agent: AgentProcess) {
  let count = 0;
  let told: (() => void) | undefined;
  const passOn = (signal: NodeJS.Signals): void => {
    count++;
    try {
      process.kill(ON_WINDOWS ? agent.pid : -agent.pid, signal);
    } catch (thrown) {
      // The group has ended; EPERM: its processes wait to be reaped.
      if (!/^(?:ESRCH|EPERM)$/.test((thrown as NodeJS.ErrnoException).code ?? '')) throw thrown;
    }
    void agent.close();
    told?.();
  };
  for (const signal of SIGNALS) process.on(signal, passOn);
  return {
    haveCome: () => count > 0,
    next: () =>
      new Promise<void>((resolve) => {
        told = resolve;
      }),
    release: () => {
      for (const signal of SIGNALS) process.off(signal, passOn);
    },
  };
}
