/** The work of `pegwire connect`. */
import { isAgentName } from '../../../accp/session/names.js';
import { PegwireError } from '../../../text/errors.js';
import { readTarget, type Target } from '../../connect/target.js';
import { type Line, readLines } from '../../io/input.js';
import { refuse } from '../../io/report.js';
import { type Invocation, UsageError } from '../../options/command.js';
import { secondsOption, textOption } from '../../options/option.js';
import { givenToken } from '../../options/server.js';
import { speakOverHttp } from './http.js';
import { readSaid, type Said } from './messages.js';
import { Received } from './received.js';
import type { Speaker, SpeakerOptions } from './speaker.js';

/** @returns the exit code: 1 where an error frame came, a line was refused, or a request was not answered */
export async function runConnect(invocation: Invocation): Promise<number> {
  const [address, file, extra] = invocation.words;
  if (address === undefined) throw new UsageError('connect needs an address: pegwire connect http://127.0.0.1:4711');
  if (extra !== undefined) throw new UsageError(`connect reads one file; "${extra}" is one too many`);
  const target = readTarget(address);
  const options = optionsOf(invocation, target);
  const received = new Received(invocation);
  const isRaw = invocation.options['raw'] === true;
  const speaker = await speakerFor(target, options, received, isRaw);
  const input = { ...invocation, file: file === '-' ? undefined : file };
  let isOver = false;
  try {
    await sayLines(input, speaker, received, isRaw);
    await speaker.end();
    isOver = true;
  } finally {
    if (!isOver) await speaker.stop();
    await received.settled();
  }
  return received.faults > 0 ? 1 : 0;
}

function optionsOf(invocation: Invocation, { url }: Target): SpeakerOptions {
  const agent = textOption(invocation, 'as') ?? 'cli';
  if (!isAgentName(agent)) throw new UsageError(`--as is 1 to 256 letters, digits, "-" and "_", not "${agent}"`);
  const token = givenToken(invocation);
  if (token !== undefined && !/^[!-~]+$/.test(token)) throw new UsageError('A token is of visible ASCII characters');
  const timeout = secondsOption(invocation, 'timeout') ?? 30;
  if (timeout === 0) throw new UsageError('--timeout is a number of seconds above 0');
  return { url, agent, token, timeout };
}

async function speakerFor(
  { isWebSocket }: Target,
  options: SpeakerOptions,
  received: Received,
  isRaw: boolean,
): Promise<Speaker> {
  if (!isWebSocket) return speakOverHttp(options, received);
  if (isRaw) return (await import('../../connect/raw-websocket.js')).speakRaw(options, received);
  return (await import('./websocket.js')).speakOverWebSocket(options, received);
}

async function sayLines(input: Invocation, speaker: Speaker, received: Received, isRaw: boolean): Promise<void> {
  const lines = readLines(input);
  for (;;) {
    const reading = lines.next();
    // After what the first reading says of a terminal.
    received.prompt();
    let next: IteratorResult<Line>;
    try {
      next = await Promise.race([reading, speaker.broken]);
    } catch (thrown) {
      leave(input, reading);
      throw thrown;
    }
    if (next.done === true) return;
    await sayLine(input, next.value, speaker, received, isRaw);
  }
}

async function sayLine(
  input: Invocation,
  line: Line,
  speaker: Speaker,
  received: Received,
  isRaw: boolean,
): Promise<void> {
  try {
    const said: Said = isRaw ? { kind: 'frame', frame: line.text } : readSaid(line.text);
    if (said.kind === 'message') await received.lost(said.losses);
    await speaker.say(said);
  } catch (thrown) {
    if (!(thrown instanceof PegwireError)) throw thrown;
    received.faults++;
    await refuse(input, line, thrown);
  }
}

/** Nobody hears what may still come: an input that stays open would keep the process. */
function leave({ stdin }: Invocation, reading: Promise<unknown>): void {
  reading.catch(() => undefined);
  (stdin as { readonly destroy?: () => void }).destroy?.();
}
