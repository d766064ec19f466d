import process from 'node:process';
import { createInterface } from 'node:readline/promises';
import {
  type Client,
  type ClientOptions,
  type Dial,
  dialOf,
  openClient,
  type Invocation as Work,
} from '../../../arcp/client/index.js';
import { ArcpError, type Envelope } from '../../../arcp/index.js';
import { visible } from '../../../text/visible.js';
import { UsageError } from '../../io/errors.js';
import { type LineFile, NO_FILE, openLines } from '../../io/files.js';
import { errorJson, toJson } from '../../io/json.js';
import { defineCommand, type Invocation } from '../../options/command.js';
import { choice, duration, flag, text, value } from '../../options/option.js';
import { lineOf, noteFailure } from './lines.js';
import { argumentsOf, bearer, namedTarget, reached, TARGET_OPTIONS, TARGETS, unreachable } from './targets.js';

const OPTIONS = {
  agent: flag('NAME is an agent; its task stands in the place of the JSON, or is "task" in it'),
  workflow: flag('NAME is a workflow'),
  mode: choice('MODE', 'of a tool: auto (default), direct, job', ['auto', 'direct', 'job']),
  key: text('TEXT', 'the operation: of several calls with one key, one is carried out'),
  timeout: value('DURATION', 'Cancel the work after this long.', duration({ isPositive: true })),
  yes: flag('grant all permissions that are asked for'),
  no: flag('deny them; without either, somebody at the terminal is asked'),
  log: text('FILE', 'where what both sides say is written, for replay, graph and validate'),
  quiet: flag('only the result'),
  ...TARGET_OPTIONS,
};

type Run = Invocation<typeof OPTIONS>;

export const command = defineCommand({
  takes: { words: 'TARGET NAME [JSON] | NAME [JSON] -- CMD [ARG...]' },
  options: OPTIONS,
  details: [
    TARGETS,
    'The result goes to stdout as JSON, what is said meanwhile to stderr; with --json, all messages go to stdout, one a line. The exit ' +
      'code is 1 where it failed or was cancelled. Ctrl-C cancels the work, and once more ends the command.',
  ],
  example: [
    'pegwire arcp invoke ws://127.0.0.1:7777/arcp add \'{"a":2,"b":3}\'',
    'pegwire arcp invoke count -- my-runtime --stdio',
  ],
  run,
});

/** About fifteen seconds. */
const RECONNECT = { maxAttempts: 10, maxDelayMs: 2000 };

async function run(invocation: Run): Promise<number> {
  const { target, words, token } = namedTarget(invocation);
  const [name, text, extra] = words;
  if (name === undefined) throw new UsageError('arcp invoke needs a name: pegwire arcp invoke TARGET NAME [JSON]');
  if (extra !== undefined) throw new UsageError(`arcp invoke takes a target, a name and JSON, not "${extra}" as well`);
  const { quiet: isQuiet, log } = invocation.options;
  const start = starter(invocation, name, text);
  const onMessage = (message: Envelope): void => {
    if (!isQuiet) show(invocation, message);
  };
  const dial = dialOf(target, { token });
  const file = openRecord(invocation, log);
  let client: Client;
  try {
    client = await openClient(await reached(log === undefined ? dial : recorded(dial, file)), {
      onMessage,
      onPermission: permissions(invocation),
      // A program ends with its connection.
      reconnect: typeof target === 'string' ? RECONNECT : false,
      auth: bearer(token),
    });
  } catch (thrown) {
    file.close();
    throw thrown instanceof ArcpError
      ? new UsageError(`${thrown.code}: ${thrown.message}`, 'unreachable')
      : unreachable(thrown, target);
  }
  const work = start(client);
  let jobId: string | undefined;
  work.accepted.then(
    (id) => {
      jobId = id;
    },
    () => {},
  );
  const stopped = cancelBySignal(work);
  try {
    const result = await work.result();
    if (!invocation.json || isQuiet) await invocation.output.result(result === undefined ? 'null' : toJson(result));
    return file.isWhole() ? 0 : 2;
  } catch (thrown) {
    await noteFailure(invocation, thrown);
    if (jobId !== undefined && typeof target === 'string' && (await isLost(client)))
      await invocation.output.note(`The job goes on. To follow it: pegwire arcp tail ${target} ${jobId}`);
    return 1;
  } finally {
    stopped();
    await client.close().catch(() => client.disconnect());
    file.close();
  }
}

/** Reports whether the connection has ended for good. */
function isLost(client: Client): Promise<boolean> {
  return Promise.race([
    client.closed.then(() => true),
    new Promise<boolean>((resolve) => setImmediate(resolve, false)),
  ]);
}

function starter({ options }: Run, name: string, text: string | undefined): (client: Client) => Work {
  const { timeout: timeoutMs, key: operationKey, mode, agent, workflow } = options;
  const shared = { operationKey, timeoutMs };
  if (agent) {
    const isObject = text?.trimStart().startsWith('{') === true;
    const { task, ...args } = isObject ? argumentsOf(text) : { task: text ?? '' };
    return (client) => client.delegate(name, String(task ?? ''), { ...shared, arguments: args });
  }
  const args = argumentsOf(text ?? '{}');
  if (workflow) return (client) => client.startWorkflow(name, args, shared);
  return (client) => client.invoke(name, args, { ...shared, mode });
}

function show({ json, output }: Run, message: Envelope): void {
  const line = json ? toJson(message) : lineOf(message, output.paintNote);
  if (line !== undefined) void (json ? output.result(line) : output.note(line));
}

function permissions({ options, stdin, output }: Run): ClientOptions['onPermission'] {
  if (options.yes) return () => ({ decision: 'grant' });
  if (options.no || stdin.isTTY !== true) return () => ({ decision: 'deny', reason: 'Nobody is there to ask' });
  return async ({ payload }) => {
    const { permission, resource, reason } = payload;
    const terminal = createInterface({ input: process.stdin, output: process.stderr });
    try {
      const on = resource === undefined ? '' : ` on ${resource}`;
      const why = reason === undefined ? '' : ` (${reason})`;
      const said = await terminal.question(
        `${output.paintNote('yellow', '?')} ${visible(`Grant ${permission}${on}${why}`)} [y/N] `,
      );
      return /^y(?:es)?$/i.test(said.trim())
        ? { decision: 'grant' }
        : { decision: 'deny', reason: 'Denied at the terminal' };
    } finally {
      terminal.close();
    }
  };
}

/** @returns a function that removes the listeners */
function cancelBySignal(work: Work): () => void {
  let isAsked = false;
  const stop = (): void => {
    if (isAsked) process.exit(130);
    isAsked = true;
    work.cancel({ reason: 'Stopped at the terminal' }).catch(() => {});
  };
  process.on('SIGINT', stop).on('SIGTERM', stop);
  return () => void process.off('SIGINT', stop).off('SIGTERM', stop);
}

const SECRET = 'secret';

/** Opens the log; the work goes on if it cannot be written. */
function openRecord({ json, output }: Run, log: string | undefined): LineFile {
  if (log === undefined) return NO_FILE;
  return openLines(log, 'w', (reason) => {
    const message = `Cannot write ${log}: ${reason}; the work goes on without its log`;
    void output.note(json ? errorJson('unreadable', message) : `${message}.`);
  });
}

/** Records what both sides send, one message per line. */
function recorded(dial: Dial, file: LineFile): Dial {
  return async () => {
    const channel = await dial();
    return {
      ...channel,
      send: (message) => {
        file.write(withoutSecrets(message));
        channel.send(message);
      },
      start: (receiver) =>
        channel.start({
          ...receiver,
          text: (message) => {
            file.write(withoutSecrets(message));
            receiver.text(message);
          },
        }),
    };
  };
}

/** Hides the tokens of sessions. */
function withoutSecrets(text: string): string {
  if (!/"(?:token|resume_token)"/.test(text)) return text;
  try {
    const message = JSON.parse(text) as { readonly payload?: Readonly<Record<string, unknown>> };
    const { payload = {} } = message;
    const auth = payload['auth'] as Readonly<Record<string, unknown>> | undefined;
    return toJson({
      ...message,
      payload: {
        ...payload,
        ...('resume_token' in payload ? { resume_token: SECRET } : {}),
        ...(auth === undefined || !('token' in auth) ? {} : { auth: { ...auth, token: SECRET } }),
      },
    });
  } catch {
    return text;
  }
}
