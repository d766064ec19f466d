/** The work of `pegwire arcp invoke`. */
import process from 'node:process';
import { createInterface } from 'node:readline/promises';
import {
  type Client,
  type ClientOptions,
  dialOf,
  openClient,
  type Invocation as Work,
} from '../../../arcp/client/index.js';
import { ArcpError, type Envelope } from '../../../arcp/index.js';
import { visible } from '../../../text/visible.js';
import { errorJson, toJson } from '../../io/json.js';
import { choice, type Invocation, UsageError } from '../../options/command.js';
import { secondsOption, textOption } from '../../options/option.js';
import { lineOf } from './lines.js';
import { recorded } from './record.js';
import { namedTarget, reached, unreachable } from './targets.js';

/** Attempts in a row to connect again: about fifteen seconds. */
const RECONNECT = { maxAttempts: 10, maxDelayMs: 2000 };

const MODES = ['auto', 'direct', 'job'] as const;

/** @returns the exit code: 1 where the work failed */
export async function runInvoke(invocation: Invocation): Promise<number> {
  const { target, words, token } = namedTarget(invocation);
  const [name, text, extra] = words;
  if (name === undefined) throw new UsageError('arcp invoke needs a name: pegwire arcp invoke TARGET NAME [JSON]');
  if (extra !== undefined) throw new UsageError(`arcp invoke takes a target, a name and JSON, not "${extra}" as well`);
  const isQuiet = invocation.options['quiet'] === true;
  const start = starter(invocation, name, text);
  const onMessage = (message: Envelope): void => {
    if (!isQuiet) tell(invocation, message);
  };
  const log = textOption(invocation, 'log');
  const dial = dialOf(target, { token });
  const recording =
    log === undefined
      ? { dial, isWhole: () => true, close: () => {} }
      : recorded(dial, log, (why) => {
          const message = `Cannot write ${log}: ${why}; the work goes on without its log`;
          void invocation.output.note(invocation.json ? errorJson('unreadable', message) : `${message}.`);
        });
  let client: Client;
  try {
    client = await openClient(await reached(recording.dial), {
      ...{ onMessage, onPermission: permissions(invocation) },
      // A program ends with its connection.
      reconnect: typeof target === 'string' ? RECONNECT : false,
      auth: token === undefined ? undefined : { scheme: 'bearer', token },
    });
  } catch (thrown) {
    recording.close();
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
    return recording.isWhole() ? 0 : 2;
  } catch (thrown) {
    const { code, message } = thrown instanceof ArcpError ? thrown : new ArcpError('UNKNOWN', String(thrown));
    await invocation.output.note(
      invocation.json ? errorJson(code, message) : `${invocation.output.paintNote('red', code)} ${visible(message)}`,
    );
    if (jobId !== undefined && typeof target === 'string' && (await isLost(client)))
      await invocation.output.note(`The job goes on. To follow it: pegwire arcp tail ${target} ${jobId}`);
    return 1;
  } finally {
    stopped();
    await client.close().catch(() => client.disconnect());
    recording.close();
  }
}

/** Returns whether the connection has ended, and none will be made again. */
function isLost(client: Client): Promise<boolean> {
  return Promise.race([
    client.closed.then(() => true),
    new Promise<boolean>((resolve) => setImmediate(resolve, false)),
  ]);
}

function starter(invocation: Invocation, name: string, text: string | undefined): (client: Client) => Work {
  const timeout = secondsOption(invocation, 'timeout');
  const timeoutMs = timeout === undefined ? undefined : Math.ceil(timeout * 1000);
  const options = { operationKey: textOption(invocation, 'key'), timeoutMs };
  if (invocation.options['agent'] === true) {
    const isObject = text?.trimStart().startsWith('{') === true;
    const { task, ...args } = isObject ? objectOf(text) : { task: text ?? '' };
    return (client) => client.delegate(name, String(task ?? ''), { ...options, arguments: args });
  }
  const args = objectOf(text ?? '{}');
  if (invocation.options['workflow'] === true) return (client) => client.startWorkflow(name, args, options);
  return (client) => client.invoke(name, args, { ...options, mode: choice(invocation, 'mode', MODES) });
}

/** @throws UsageError on what is no JSON object */
function objectOf(text: string): Record<string, unknown> {
  try {
    const value = JSON.parse(text) as unknown;
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Record<string, unknown>;
  } catch {
    // Said below.
  }
  throw new UsageError(`Arguments are an object in JSON, not ${text.slice(0, 100)}`);
}

function tell({ json, output }: Invocation, message: Envelope): void {
  if (json) {
    void output.result(toJson(message));
    return;
  }
  const line = lineOf(message, output.paintNote);
  if (line !== undefined) void output.note(line);
}

function permissions({ options, stdin, output }: Invocation): ClientOptions['onPermission'] {
  if (options['yes'] === true) return () => ({ decision: 'grant' });
  if (options['no'] === true || stdin.isTTY !== true)
    return () => ({ decision: 'deny', reason: 'Nobody is there to ask' });
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

/** @returns leaves signals alone again */
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
