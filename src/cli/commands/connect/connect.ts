import { FRAMES_PATH } from '../../../accp/bindings/http/index.js';
import { isAgentName } from '../../../accp/session/names.js';
import { PegwireError } from '../../../text/errors.js';
import { UsageError } from '../../io/errors.js';
import { type Line, readLines } from '../../io/input.js';
import { refuse } from '../../io/report.js';
import { defineCommand, type Invocation } from '../../options/command.js';
import { flag, someSeconds, text, token, value } from '../../options/option.js';
import { speakOverHttp } from './http.js';
import { readSaid, type Said } from './messages.js';
import { Received } from './received.js';
import type { Speaker, SpeakerOptions } from './speaker.js';
import { speakOverWebSocket, speakRaw } from './websocket.js';

const OPTIONS = {
  as: text('NAME', 'who speaks (cli)'),
  token: token('what the endpoint wants to be shown'),
  timeout: value('SECONDS', 'without a frame, after which answers are given up (30)', someSeconds),
  explain: flag('tell in plain English what comes'),
  all: flag('show what keeps the session going, too: registries, pings'),
  raw: flag('send lines as they are: no session, no numbers, no registry'),
};

type Run = Invocation<typeof OPTIONS>;

/** `pegwire connect`: the other side of an endpoint. */
export const command = defineCommand({
  takes: { words: 'URL [file|-]' },
  options: OPTIONS,
  details: [
    'A line that begins with @ is a frame, one that begins with { or " a message as JSON, as pegwire encode accp reads it; any other is ' +
      'what somebody says in a chat. Messages and texts go out in a session; frames over HTTP as they are, and over a WebSocket, ' +
      "where numbers are the session's, as messages of it. An address without a path means /accp/v1/frames.",
    'What comes goes to stdout, a frame a line; with --json as {"frame", "message"}. When the input ends, outstanding answers are ' +
      'waited for. The exit code is 1 where an error frame came, or a request was not answered.',
  ],
  example: [
    `echo '@me>req:add{a:1}[mid:m1,seq:1]' | pegwire connect http://127.0.0.1:4711`,
    `echo '{"intent":"req","operation":"x"}' | pegwire connect ws://127.0.0.1:4711`,
  ],
  run,
});

/** @returns the exit code: 1 where an error frame came, a line was refused, or a request was not answered */
async function run(invocation: Run): Promise<number> {
  const [address, file, extra] = invocation.words;
  if (address === undefined) throw new UsageError('connect needs an address: pegwire connect http://127.0.0.1:4711');
  if (extra !== undefined) throw new UsageError(`connect reads one file; "${extra}" is one too many`);
  const target = readTarget(address);
  const received = new Received(invocation);
  const speaker = await speakerFor(invocation, target, received);
  const input = { ...invocation, file: file === '-' ? undefined : file };
  let isOver = false;
  try {
    await sayLines(input, speaker, received);
    await speaker.end();
    isOver = true;
  } finally {
    if (!isOver) await speaker.stop();
    await received.settled();
  }
  return received.faults > 0 ? 1 : 0;
}

function speakerOptions({ options }: Run, { url }: Target): SpeakerOptions {
  const { as: agent = 'cli', timeout = 30, token: secret } = options;
  if (!isAgentName(agent)) throw new UsageError(`--as is 1 to 256 letters, digits, "-" and "_", not "${agent}"`);
  if (secret !== undefined && !/^[!-~]+$/.test(secret)) throw new UsageError('A token is of visible ASCII characters');
  return { url, agent, token: secret, timeout };
}

async function speakerFor(invocation: Run, target: Target, received: Received): Promise<Speaker> {
  const options = speakerOptions(invocation, target);
  if (!target.isWebSocket) return speakOverHttp(options, received);
  if (invocation.options.raw) return speakRaw(options, received);
  return speakOverWebSocket(options, received);
}

async function sayLines(input: Run, speaker: Speaker, received: Received): Promise<void> {
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
    await sayLine(input, next.value, speaker, received);
  }
}

async function sayLine(input: Run, line: Line, speaker: Speaker, received: Received): Promise<void> {
  try {
    const said: Said = input.options.raw ? { kind: 'frame', frame: line.text } : readSaid(line.text);
    if (said.kind === 'message') await received.lost(said.losses);
    await speaker.say(said);
  } catch (thrown) {
    if (!(thrown instanceof PegwireError)) throw thrown;
    received.faults++;
    await refuse(input, line, thrown);
  }
}

/** Nobody hears what may still come: an input that stays open would keep the process. */
function leave({ stdin }: Run, reading: Promise<unknown>): void {
  reading.catch(() => undefined);
  (stdin as { readonly destroy?: () => void }).destroy?.();
}

/** What the command connects to. */
interface Target {
  readonly url: string;
  readonly isWebSocket: boolean;
}

/** @throws UsageError on an address that is none, or of another kind */
function readTarget(text: string): Target {
  if (!URL.canParse(text)) throw new UsageError(`"${text}" is no address: http://127.0.0.1:4711 is one`);
  const url = new URL(text);
  if (!/^(?:https?|wss?):$/.test(url.protocol))
    throw new UsageError(`connect takes http, https, ws and wss, not ${url.protocol.slice(0, -1)}`);
  if (url.username !== '' || url.password !== '')
    throw new UsageError('An address shows to everybody: give what is secret as --token, or PEGWIRE_TOKEN');
  if (url.pathname === '/') url.pathname = FRAMES_PATH;
  url.hash = '';
  return { url: url.href, isWebSocket: url.protocol.startsWith('ws') };
}
