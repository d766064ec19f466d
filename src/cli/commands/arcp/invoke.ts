import process from 'node:process';
import { createInterface } from 'node:readline/promises';
import {
  type Client,
  type ClientOptions,
  type Dial,
  openClient,
  type Invocation as Work,
} from '../../../arcp/client/index.js';
import { ArcpError, type Envelope } from '../../../arcp/index.js';
import { visible } from '../../../text/visible.js';
import { libraryFault, UsageError } from '../../io/errors.js';
import { type LineFile, NO_FILE, openLines } from '../../io/files.js';
import { errorJson, toJson } from '../../io/json.js';
import { labelled } from '../../io/output.js';
import { defineCommand, type Invocation } from '../../options/command.js';
import { choice, duration, flag, text, value } from '../../options/option.js';
import { lineOf, noteFailure } from './lines.js';
import { argumentsOf, bearer, connected, namedTarget, TARGET_OPTIONS, TARGETS, unreachable } from './targets.js';

const OPTIONS = {
  agent: flag('NAME is an agent; JSON is its task as text, or an object with a member "task"'),
  workflow: flag('NAME is a workflow'),
  mode: choice('MODE', 'Run a tool as auto (default), direct or job', ['auto', 'direct', 'job']),
  key: text('TEXT', 'Operation key: calls with the same key run once'),
  timeout: value('DURATION', 'Cancel the work after this long', duration({ isPositive: true })),
  yes: flag('Grant all permission requests'),
  no: flag('Deny all permission requests (default: ask at the terminal)'),
  log: text('FILE', 'Write the messages of both sides to this file, for arcp replay, graph and validate'),
  quiet: flag('Print only the result'),
  ...TARGET_OPTIONS,
};

type Run = Invocation<typeof OPTIONS>;

export const command = defineCommand({
  takes: { words: 'TARGET NAME [JSON] | NAME [JSON] -- CMD [ARG...]' },
  options: OPTIONS,
  details: [
    TARGETS,
    'Prints the result to stdout as JSON, and the messages before it to stderr; with --json, prints all messages to stdout, one per ' +
      'line. The exit code is 1 if the work failed or was cancelled. Ctrl-C cancels the work; a second Ctrl-C ends the command.',
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
  const { target, dial, words, token } = namedTarget(invocation);
  const [name, text, extra] = words;
  if (name === undefined) throw new UsageError('arcp invoke requires a name: pegwire arcp invoke TARGET NAME [JSON]');
  if (extra !== undefined) throw new UsageError(`arcp invoke takes a target, a name and JSON; remove "${extra}"`);
  const { quiet: isQuiet, log } = invocation.options;
  const start = starter(invocation, name, text);
  const onMessage = (message: Envelope): void => {
    if (!isQuiet) show(invocation, message);
  };
  const file = openLog(invocation, log);
  let client: Client;
  try {
    client = await openClient(await connected(log === undefined ? dial : logged(dial, file)), {
      onMessage,
      onPermission: permissions(invocation),
      // A program ends with its connection, so there is no reconnecting to it.
      reconnect: typeof target === 'string' ? RECONNECT : false,
      auth: bearer(token),
    });
  } catch (thrown) {
    file.close();
    throw thrown instanceof ArcpError ? libraryFault(thrown) : unreachable(thrown, target);
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
      await invocation.output.note(`The job continues. To follow it, run: pegwire arcp tail ${target} ${jobId}`);
    return 1;
  } finally {
    stopped();
    await client.close().catch(() => client.disconnect());
    file.close();
  }
}

/** Reports whether the connection has ended and will not be opened again. */
function isLost(client: Client): Promise<boolean> {
  return Promise.race([
    client.closed.then(() => true),
    new Promise<boolean>((resolve) => setImmediate(resolve, false)),
  ]);
}

/** Returns a function that starts the work. */
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
  if (options.no || stdin.isTTY !== true) return () => ({ decision: 'deny', reason: 'No user to ask' });
  return async ({ payload }) => {
    const { permission, resource, reason } = payload;
    const terminal = createInterface({ input: process.stdin, output: process.stderr });
    try {
      const on = resource === undefined ? '' : ` on ${resource}`;
      const why = reason === undefined ? '' : ` (${reason})`;
      const reply = await terminal.question(
        `${output.paintNote('yellow', '?')} ${visible(`Grant ${permission}${on}${why}`)} [y/N] `,
      );
      return /^y(?:es)?$/i.test(reply.trim())
        ? { decision: 'grant' }
        : { decision: 'deny', reason: 'Denied at the terminal' };
    } finally {
      terminal.close();
    }
  };
}

/** Cancels the work at the first signal, and exits at the second. @returns a function that removes the listeners */
function cancelBySignal(work: Work): () => void {
  let isCancelled = false;
  const stop = (): void => {
    if (isCancelled) process.exit(130);
    isCancelled = true;
    work.cancel({ reason: 'Stopped at the terminal' }).catch(() => {});
  };
  process.on('SIGINT', stop).on('SIGTERM', stop);
  return () => void process.off('SIGINT', stop).off('SIGTERM', stop);
}

const SECRET = 'secret';

/** Opens the log. If it cannot be written later, the work continues. */
function openLog({ json, output }: Run, log: string | undefined): LineFile {
  if (log === undefined) return NO_FILE;
  return openLines(log, 'w', (reason) => {
    const message = `Cannot write ${log}: ${reason}; continuing without the log`;
    void output.note(
      json ? errorJson('unwritable', message) : labelled('error', 'unwritable', `${message}.`, output.paintNote),
    );
  });
}

/** Logs the messages of both sides, one per line. */
function logged(dial: Dial, file: LineFile): Dial {
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

/** Replaces the tokens of sessions. */
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
