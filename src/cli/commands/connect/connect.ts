import { FRAMES_PATH } from '../../../accp/bindings/http/index.js';
import { isAgentName } from '../../../accp/session/envelope.js';
import { PegwireError } from '../../../text/errors.js';
import { UsageError } from '../../io/errors.js';
import { type Line, readLines } from '../../io/input.js';
import { refuse } from '../../io/report.js';
import { defineCommand, type Invocation } from '../../options/command.js';
import { duration, flag, text, token, value } from '../../options/option.js';
import { httpSender } from './http.js';
import { Received } from './received.js';
import { type Outgoing, readOutgoing, type Sender, type SenderOptions } from './sender.js';
import { rawSender, webSocketSender } from './websocket.js';

const OPTIONS = {
  agent: text('NAME', 'Send as this agent (default: cli).'),
  token: token('what the endpoint wants to be shown'),
  timeout: value(
    'DURATION',
    'Stop waiting for answers after this long without a frame (default: 30s); or never.',
    duration({ isPositive: true, never: true }),
  ),
  explain: flag('tell in plain English what comes'),
  all: flag('show what keeps the session going, too: registries, pings'),
  raw: flag('send lines as they are: no session, no numbers, no registry'),
};

type Run = Invocation<typeof OPTIONS>;
type Target = ReturnType<typeof readTarget>;

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

async function run(invocation: Run): Promise<number> {
  const [address, file, extra] = invocation.words;
  if (address === undefined) throw new UsageError('connect needs an address: pegwire connect http://127.0.0.1:4711');
  if (extra !== undefined) throw new UsageError(`connect reads one file; "${extra}" is one too many`);
  const target = readTarget(address);
  const received = new Received(invocation);
  const sender = await senderFor(invocation, target, received);
  const input = { ...invocation, file: file === '-' ? undefined : file };
  let isOver = false;
  try {
    await sendLines(input, sender, received);
    await sender.end();
    isOver = true;
  } finally {
    if (!isOver) await sender.stop();
    await received.settled();
  }
  return received.faults > 0 ? 1 : 0;
}

function senderOptions({ options }: Run, { url }: Target): SenderOptions {
  const { agent = 'cli', timeout: timeoutMs = 30_000, token: secret } = options;
  if (!isAgentName(agent)) throw new UsageError(`--agent must be 1 to 256 letters, digits, "-" or "_"; got "${agent}"`);
  if (secret !== undefined && !/^[!-~]+$/.test(secret)) throw new UsageError('A token is of visible ASCII characters');
  return { url, agent, token: secret, timeoutMs };
}

async function senderFor(invocation: Run, target: Target, received: Received): Promise<Sender> {
  const options = senderOptions(invocation, target);
  if (!target.isWebSocket) return httpSender(options, received);
  if (invocation.options.raw) return rawSender(options, received);
  return webSocketSender(options, received);
}

async function sendLines(input: Run, sender: Sender, received: Received): Promise<void> {
  const lines = readLines(input);
  for (;;) {
    const reading = lines.next();
    // After the notice about reading from a terminal.
    received.prompt();
    let next: IteratorResult<Line>;
    try {
      next = await Promise.race([reading, sender.broken]);
    } catch (thrown) {
      leave(input, reading);
      throw thrown;
    }
    if (next.done === true) return;
    await sendLine(input, next.value, sender, received);
  }
}

async function sendLine(input: Run, line: Line, sender: Sender, received: Received): Promise<void> {
  try {
    const outgoing: Outgoing = input.options.raw ? { kind: 'frame', frame: line.text } : readOutgoing(line.text);
    if (outgoing.kind === 'message') await received.lost(outgoing.losses);
    await sender.send(outgoing);
  } catch (thrown) {
    if (!(thrown instanceof PegwireError)) throw thrown;
    received.faults++;
    await refuse(input, line, thrown);
  }
}

/** An open input would keep the process alive. */
function leave({ stdin }: Run, reading: Promise<unknown>): void {
  reading.catch(() => undefined);
  (stdin as { readonly destroy?: () => void }).destroy?.();
}

/** @throws UsageError on an invalid address */
function readTarget(text: string) {
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
