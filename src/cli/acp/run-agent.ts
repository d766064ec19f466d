/** The work of `pegwire acp run`. */
import { constants } from 'node:os';
import process from 'node:process';
import { Writable } from 'node:stream';
import { type AgentProcess, byteChannel, ConnectionError, type Exit, launchAgent } from '../../acp/index.js';
import { visible } from '../../text/visible.js';
import { errorJson } from '../json.js';
import { secondsOption, textOption } from '../option-values.js';
import { choice, type Invocation, UsageError } from '../usage.js';
import { NO_LOG, openMessageLog } from './message-log.js';
import { Relay } from './relay.js';

const BATCHES = ['split', 'pass'] as const;
/** Characters of what is no message that are told. */
const SHOWN = 200;

/** @returns the exit code: the agent's */
export async function runAgent(invocation: Invocation): Promise<number> {
  const [command, ...args] = invocation.words;
  if (command === undefined) throw new UsageError('acp run needs a program: pegwire acp run -- CMD [ARG...]');
  const batches = choice(invocation, 'batches', BATCHES);
  const grace = secondsOption(invocation, 'grace') ?? 10;
  const note = (code: string, text: string): void => {
    const { json, output } = invocation;
    void output.note(json ? errorJson(code, text) : `${output.paintNote('yellow', 'pegwire:')} ${visible(text)}`);
  };
  const file = textOption(invocation, 'log');
  const log =
    file === undefined ? NO_LOG : openMessageLog(file, (why) => note('log', `${file} is not written on: ${why}`));
  try {
    const agent = await launched(command, args);
    const client = byteChannel(process.stdin, output());
    const relayed = new Promise<boolean>((resolve) => {
      const relay = new Relay(client, agent.channel, {
        batches,
        passed: log.message,
        refused: (from, why, text) => {
          log.refused(from, why, text);
          note(
            'not-a-message',
            `not passed on, from the ${from}: ${why}${text === '' ? '' : `: ${text.slice(0, SHOWN)}`}`,
          );
        },
        ended: (side, error) => {
          if (side === 'agent') {
            if (error !== undefined && !isExit(error)) note('agent', `the agent: ${error.message}`);
            resolve(error === undefined || isExit(error));
          } else void endAgent(agent, grace);
        },
      });
      relay.start();
    });
    const release = endBySignal(agent);
    const isWhole = await relayed;
    const exit = await agent.close();
    await client.end();
    client.destroy();
    release();
    return isWhole ? codeOf(exit) : codeOf(exit) || 1;
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

/** Ending stdout itself would break what else the process writes there. */
function output(): Writable {
  return new Writable({
    decodeStrings: false,
    write: (chunk: string, _encoding, done) => void process.stdout.write(chunk, () => done()),
  });
}

/** Nothing more comes: the agent answers what it is working on, and ends by itself, or is ended. */
async function endAgent(agent: AgentProcess, grace: number): Promise<void> {
  void agent.channel.end();
  const timer = setTimeout(() => void agent.close(), grace * 1000);
  await agent.exited;
  clearTimeout(timer);
}

/** A signal goes to the agent and all that it has started, which stays or ends as it likes; then it is ended. */
function endBySignal(agent: AgentProcess): () => void {
  const passOn = (signal: NodeJS.Signals): void => {
    try {
      process.kill(process.platform === 'win32' ? agent.pid : -agent.pid, signal);
    } catch (thrown) {
      // All of them have ended; EPERM is what a group has whose processes wait to be reaped.
      if (!/^(?:ESRCH|EPERM)$/.test((thrown as NodeJS.ErrnoException).code ?? '')) throw thrown;
    }
    void agent.close();
  };
  process.on('SIGINT', passOn).on('SIGTERM', passOn);
  return () => void process.off('SIGINT', passOn).off('SIGTERM', passOn);
}

/** What an error of the channel says of the end of the process: the exit code says so, too. */
function isExit(error: Error): boolean {
  return error instanceof ConnectionError && error.code === 'closed';
}

/** As shells have it. */
function codeOf({ code, signal }: Exit): number {
  return signal === null ? (code ?? 0) : 128 + constants.signals[signal];
}
