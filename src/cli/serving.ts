/** The work of `pegwire serve`. */
import process from 'node:process';
import { AccpError } from '../accp/errors/accp-error.js';
import {
  AGENTS,
  accessLine,
  createEndpoint,
  type RunningServer,
  ServeError,
  type ServeOptions,
  startServer,
  tryAgent,
} from '../accp/serve/index.js';
import { errorJson, toJson } from './io/json.js';
import { choice, type Invocation, UsageError } from './options/command.js';
import { countOption, secondsOption, textOption } from './options/option.js';
import { givenToken } from './options/server.js';

/** Sessions that are kept between requests: each may hold up to 16 MiB. */
const MAX_SESSIONS = 128;
/** Seconds that one is kept. */
const IDLE_TIME = 600;

/** @returns the exit code, when it has ended: 0 */
export async function runServer(invocation: Invocation): Promise<number> {
  const { output, json } = invocation;
  const endpoint = createEndpoint({
    ...tryAgent(choice(invocation, 'agent', AGENTS)),
    maxSessions: countOption(invocation, 'max-sessions', { from: 1 }) ?? MAX_SESSIONS,
    idleTime: IDLE_TIME,
    failed: (thrown) => {
      // Errors of the protocol are the answer itself.
      if (!(thrown instanceof AccpError)) void output.note(`An agent failed: ${String(thrown)}`);
    },
  });
  try {
    const server = await started(() => startServer(endpoint, optionsOf(invocation)));
    const { http, ws } = server;
    const ended = endBySignal(invocation, server);
    await output.result(json ? toJson({ http, ws }) : `${http}\n${ws}`);
    await ended;
  } finally {
    endpoint.close();
  }
  return 0;
}

function optionsOf(invocation: Invocation): ServeOptions {
  const { options, repeated, output, json } = invocation;
  const note = (text: string): void => void output.note(text);
  return {
    port: countOption(invocation, 'port', { from: 0, to: 65_535 }),
    host: textOption(invocation, 'host'),
    path: textOption(invocation, 'path'),
    token: givenToken(invocation),
    insecure: options['insecure'] === true,
    origins: repeated['origin'],
    maxFrameBytes: countOption(invocation, 'max-frame', { from: 1 }),
    maxConnections: countOption(invocation, 'max-connections', { from: 1 }),
    closeGrace: secondsOption(invocation, 'grace'),
    onAccess: options['quiet'] === true ? undefined : (entry) => note(json ? toJson(entry) : accessLine(entry)),
    onError: ({ message }) =>
      note(json ? errorJson('connection', message) : `${output.paintNote('yellow', 'warning:')} ${message}`),
  };
}

async function started(start: () => Promise<RunningServer>): Promise<RunningServer> {
  try {
    return await start();
  } catch (thrown) {
    if (thrown instanceof ServeError && thrown.code === 'no-token') {
      throw new UsageError(`${thrown.message}: give it --token (or PEGWIRE_TOKEN in the environment), or --insecure`);
    }
    if (thrown instanceof ServeError) throw new UsageError(thrown.message, 'address');
    // Tokens, origins and paths that are none.
    throw thrown instanceof TypeError ? new UsageError(thrown.message) : thrown;
  }
}

/** Resolves when a signal has ended the server, and all that was under way is over. */
async function endBySignal({ output, json }: Invocation, server: RunningServer): Promise<void> {
  let again: () => void = () => undefined;
  await new Promise<void>((resolve) => {
    again = resolve;
    process.on('SIGINT', again).on('SIGTERM', again);
  });
  process.off('SIGINT', again).off('SIGTERM', again);
  process.on('SIGINT', server.terminate).on('SIGTERM', server.terminate);
  if (!json) await output.note('Ending: what is being answered still is. Once more ends it at once.');
  await server.close();
  process.off('SIGINT', server.terminate).off('SIGTERM', server.terminate);
}
