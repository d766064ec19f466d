/** One client and its agent: what is relayed, logged and reported, until both have ended. */
import { type AgentProcess, type Channel, ConnectionError } from '../../../acp/index.js';
import { after } from '../../../async/timers.js';
import { oneLine } from '../../../channels/line-decoder.js';
import { NO_FILE, openLines } from '../../io/files.js';
import { Relay, type Side } from './relay.js';

/** Settings of {@link relay}. */
export interface SessionSettings {
  readonly batches: 'split' | 'pass';
  /** Milliseconds for the agent to exit after its input has ended. */
  readonly graceMs: number;
  readonly log: MessageLog;
  /** Prints a note to stderr. */
  readonly note: (code: string, text: string) => void;
}

/** The longest part of a rejected text that is shown. */
const MAX_SHOWN = 200;
/** Texts in a row that are reported as not being messages. */
const MAX_REPORTED = 100;

/**
 * Relays messages between a client and an agent until the agent has ended. The end of the client ends the agent.
 *
 * @param connection the identifier of the connection in the log, if there are several
 * @returns `false` if the output of the agent could not be read to its end
 */
export function relay(
  client: Channel,
  agent: AgentProcess,
  { batches, graceMs, log, note }: SessionSettings,
  connection?: string,
): Promise<boolean> {
  let reported = 0;
  return new Promise<boolean>((resolve) => {
    const relaying = new Relay(client, agent.channel, {
      batches,
      onMessage: (from, text) => {
        if (from !== 'pegwire') reported = 0;
        log.message(from, text, connection);
      },
      onRejected: (from, reason, text) => {
        log.rejected(from, reason, text, connection);
        if (++reported > MAX_REPORTED) return;
        const quote = text === '' ? '' : `: ${text.slice(0, MAX_SHOWN)}`;
        note('not-a-message', `Not relayed from the ${from}: ${reason}${quote}`);
        if (reported === MAX_REPORTED) note('not-a-message', 'No more are reported until a message arrives.');
      },
      onEnd: (side, error) => {
        if (side === 'agent') {
          if (error !== undefined && !isExit(error)) note('agent', `Agent: ${error.message}`);
          resolve(error === undefined || isExit(error));
        } else void endAgent(agent, graceMs);
      },
    });
    relaying.start();
  });
}

/** Ends the input of the agent, and after the grace period the agent itself. */
async function endAgent(agent: AgentProcess, graceMs: number): Promise<void> {
  void agent.channel.end();
  const stop = after(graceMs, () => void agent.close());
  await agent.exited;
  stop();
}

/** Reports whether the error is the end of the process, which the exit code shows already. */
function isExit(error: Error): boolean {
  return error instanceof ConnectionError && error.code === 'closed';
}

/** A log of messages. */
export type MessageLog = ReturnType<typeof openMessageLog>;

/** Opens the log, which only its owner can read. @throws UsageError if it cannot be opened */
export function openMessageLog(file: string | undefined, failed: (reason: string) => void) {
  const lines = file === undefined ? NO_FILE : openLines(file, 'a', failed);
  const write = (from: string, rest: string, connection: string | undefined): void => {
    const which = connection === undefined ? '' : `"connection":"${connection}",`;
    lines.write(`{"at":"${new Date().toISOString()}",${which}"from":"${from}",${rest}}`);
  };
  return {
    // The text is JSON; parsing and printing it could lose digits.
    message: (from: Side | 'pegwire', message: string, connection?: string) =>
      write(from, `"message":${oneLine(message)}`, connection),
    rejected: (from: Side, reason: string, text: string, connection?: string) =>
      write(from, `"rejected":${JSON.stringify(reason)},"text":${JSON.stringify(text)}`, connection),
    close: lines.close,
  };
}
