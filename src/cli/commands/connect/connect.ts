import { FRAMES_PATH } from '../../../accp/bindings/http/index.js';
import { SUBPROTOCOL } from '../../../accp/bindings/websocket/index.js';
import { isAgentName } from '../../../accp/session/envelope.js';
import { ADDRESS_FORMS, dialAddress } from '../../../channels/node/addresses.js';
import { shownAddress } from '../../../channels/shown-address.js';
import { PegwireError } from '../../../text/errors.js';
import { UsageError } from '../../io/errors.js';
import { type Line, readLines } from '../../io/input.js';
import { reject } from '../../io/report.js';
import { defineCommand, type Invocation } from '../../options/command.js';
import { duration, flag, text, token, value } from '../../options/option.js';
import { httpSender } from './http.js';
import { Received } from './received.js';
import { type Outgoing, readOutgoing, type Sender, type SenderOptions } from './sender.js';
import { rawSender, webSocketSender } from './websocket.js';

const OPTIONS = {
  agent: text('NAME', 'Send messages as this agent (default: cli)'),
  token: token('Authenticate with this bearer token'),
  timeout: value(
    'DURATION',
    'Stop waiting for answers after this long without a frame (default: 30s); or never',
    duration({ isPositive: true, never: true }),
  ),
  explain: flag('Explain each received frame in plain English'),
  all: flag('Also print the frames that maintain the session: registries and pings'),
  raw: flag('Send lines unchanged, without a session'),
};

type Run = Invocation<typeof OPTIONS>;
type Target = ReturnType<typeof readTarget>;

export const command = defineCommand({
  takes: { words: 'URL [file|-]' },
  options: OPTIONS,
  details: [
    'A line that starts with @ is a frame; one that starts with { or " is a JSON message, as for pegwire encode accp; any other line is ' +
      'a chat message. Messages are sent in a session. Frames are sent unchanged over HTTP; over a WebSocket, which has a session, they ' +
      'are sent as messages of it, with new numbers. The default path of URL is /accp/v1/frames.',
    `Other forms of URL are ${ADDRESS_FORMS.filter((form) => !/^wss?:/.test(form)).join(', ')}; over them, sessions are as over a WebSocket.`,
    'Prints the received frames, one per line; with --json as {"frame", "message"}. At the end of the input, waits for outstanding ' +
      'answers. The exit code is 1 if an error frame arrived or a request was not answered.',
  ],
  example: [
    `echo '@me>req:add{a:1}[mid:m1,seq:1]' | pegwire connect http://127.0.0.1:4711`,
    `echo '{"intent":"req","operation":"x"}' | pegwire connect ws://127.0.0.1:4711`,
  ],
  run,
});

async function run(invocation: Run): Promise<number> {
  const [address, file, extra] = invocation.words;
  if (address === undefined) throw new UsageError('connect requires a URL: pegwire connect http://127.0.0.1:4711');
  if (extra !== undefined) throw new UsageError(`connect reads one file; remove "${extra}"`);
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
  if (secret !== undefined && !/^[!-~]+$/.test(secret))
    throw new UsageError('--token must be visible ASCII characters');
  return { url, agent, token: secret, timeoutMs };
}

async function senderFor(invocation: Run, target: Target, received: Received): Promise<Sender> {
  const options = senderOptions(invocation, target);
  if (target.isHttp) return httpSender(options, received);
  if (invocation.options.raw) return rawSender(options, received);
  return webSocketSender(options, received);
}

async function sendLines(input: Run, sender: Sender, received: Received): Promise<void> {
  const lines = readLines(input);
  for (;;) {
    const reading = lines.next();
    // After the note about reading from a terminal.
    received.prompt();
    let next: IteratorResult<Line>;
    try {
      next = await Promise.race([reading, sender.broken]);
    } catch (thrown) {
      closeInput(input, reading);
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
    await reject(input, line, thrown);
  }
}

/** Closes the input, which would keep the process alive. */
function closeInput({ stdin }: Run, reading: Promise<unknown>): void {
  reading.catch(() => undefined);
  (stdin as { readonly destroy?: () => void }).destroy?.();
}

/** Parses the address. @throws UsageError if it is invalid */
function readTarget(text: string) {
  if (!/^(?:https?|wss?):/.test(text)) {
    try {
      dialAddress(text, { protocol: SUBPROTOCOL });
    } catch (thrown) {
      throw new UsageError(`${(thrown as Error).message}, http://HOST:PORT and https://HOST`);
    }
    return { url: text, isHttp: false };
  }
  if (!URL.canParse(text))
    throw new UsageError(`Invalid URL "${shownAddress(text)}"; write, for example, http://127.0.0.1:4711`);
  const url = new URL(text);
  if (url.username !== '' || url.password !== '')
    throw new UsageError('The URL must not contain a user name or password; use --token or PEGWIRE_TOKEN');
  if (url.pathname === '/') url.pathname = FRAMES_PATH;
  url.hash = '';
  return { url: url.href, isHttp: url.protocol.startsWith('http') };
}
