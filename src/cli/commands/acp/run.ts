/** The work of `pegwire acp run`. */
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
import { after } from '../../../async/after.js';
import { visible } from '../../../text/visible.js';
import { type PassedSignals, passSignalsOn } from '../../acp/signals.js';
import { errorJson } from '../../io/json.js';
import { choice, type Invocation, UsageError } from '../../options/command.js';
import { secondsOption, textOption } from '../../options/option.js';
import { NO_LOG, openMessageLog } from './message-log.js';
import { Relay } from './relay.js';

const BATCHES = ['split', 'pass'] as const;
/** Characters of what is no message that are told. */
const SHOWN = 200;
/** Texts in a row that are no messages, and are told: who pipes something else into it learns no more from the rest. */
const MAX_TOLD = 100;
/** Seconds for the client to read what is left, once a signal has come. */
const LAST = 1;

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
          } else void endAgent(agent, grace);
        },
      });
      relay.start();
    });
    const signals = passSignalsOn(agent);
    const isWhole = await relayed;
    const exit = await agent.close();
    const isTold = await flushed(client, signals, grace);
    client.destroy();
    signals.release();
    const code = isWhole && isTold ? codeOf(exit) : codeOf(exit) || 1;
    if (isTold) return code;
    log.close();
    // What is still on its way to who does not read would keep the process.
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
  const stop = after(grace, () => void agent.close());
  await agent.exited;
  stop();
}

/**
 * What waits for the client goes out, unless it does not read: nobody who ends the program is kept waiting for that.
 *
 * @returns whether all of it went out
 */
async function flushed(client: Channel, signals: PassedSignals, grace: number): Promise<boolean> {
  let stop!: () => void;
  const late = new Promise<false>((resolve) => {
    stop = after(signals.haveCome() ? Math.min(grace, LAST) : grace, () => resolve(false));
  });
  const isTold = await Promise.race([client.end().then(() => true), late, signals.next().then(() => false)]);
  stop();
  return isTold;
}

/** What an error of the channel says of the end of the process: the exit code says so, too. */
function isExit(error: Error): boolean {
  return error instanceof ConnectionError && error.code === 'closed';
}

/** As shells have it. */
function codeOf({ code, signal }: Exit): number {
  return signal === null ? (code ?? 0) : 128 + constants.signals[signal];
}
