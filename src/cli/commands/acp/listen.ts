/** `pegwire acp run --listen`: clients over HTTP and WebSocket, each with an agent of its own. */
import { type IncomingConnection, listenAcp } from '../../../acp/http/index.js';
import { type AgentProcess, type Channel, launchAgent } from '../../../acp/index.js';
import { UsageError } from '../../io/errors.js';
import { toJson } from '../../io/json.js';
import { endBySignal } from '../../io/signals.js';
import type { Invocation } from '../../options/command.js';
import { checked, flag, texts, token, value } from '../../options/option.js';
import { notStarted, SERVER_OPTIONS } from '../../options/shared.js';
import { tlsFiles, tlsOptions } from '../../options/tls-files.js';
import { relay, type SessionSettings } from './session.js';

/** A host, in brackets if it contains colons, and a port. */
const PLACE = /^(?:(\[[0-9A-Fa-f:.]+\]|[^[\]:\s]+):)?([0-9]{1,5})$/;

const place = checked('a port, optionally after a host, such as 4712, 0.0.0.0:4712 or [::1]:4712', (given) => {
  const [, host, port] = PLACE.exec(given) ?? [];
  return port === undefined || Number(port) > 65_535 ? undefined : { host, port: Number(port) };
});

/** The options that apply to `--listen` alone, and `--listen`. */
export const LISTEN_OPTIONS = {
  listen: value(
    '[HOST:]PORT',
    'Serve clients over HTTP and WebSocket on this port, at the path /acp; 0 for any free port; a HOST other than a loopback address requires --token and --tls-key',
    place,
  ),
  token: token('Require this bearer token from clients of --listen'),
  origin: texts('ORIGIN', 'Accept connections from web pages of this origin; may be repeated'),
  insecure: SERVER_OPTIONS.insecure,
  http1: flag(
    'Accept messages and streams over HTTP/1.1 too, as on a loopback address; WebSockets are always accepted',
  ),
  'http-batches': flag('Accept batches over HTTP too, which are otherwise refused with 501'),
  ...tlsOptions('--listen'),
};

/** @throws UsageError if one of the options is given, which require `--listen` */
export function refuseListenOptions(given: Invocation['given']): void {
  for (const name of Object.keys(LISTEN_OPTIONS))
    if (given[name] !== undefined && given[name].length > 0) throw new UsageError(`--${name} requires --listen`);
}

/** A program with its arguments. */
interface Program {
  readonly command: string;
  readonly args: readonly string[];
}

/**
 * Serves an agent until a signal arrives. Returns when all agents have ended.
 *
 * @throws UsageError if the server cannot listen
 */
export async function serveAgents(
  { options, output, json }: Pick<Invocation<typeof LISTEN_OPTIONS>, 'options' | 'output' | 'json'>,
  { host, port }: NonNullable<ReturnType<typeof place>>,
  { command, args }: Program,
  session: SessionSettings,
): Promise<number> {
  const { token: secret, insecure, origin: origins, http1, 'http-batches': allowBatches } = options;
  const agents = new Set<AgentProcess>();
  const sessions = new Set<Promise<unknown>>();
  let isClosing = false;

  async function accept(channel: Channel, { id }: IncomingConnection): Promise<void> {
    const launched = launchAgent(command, args, { stderr: 'forward' });
    const ended = launched.then(async (agent) => {
      agents.add(agent);
      if (isClosing) void agent.close();
      await relay(channel, agent, session, id);
      // What the agent has sent is still transmitted.
      const [{ code, signal }] = await Promise.all([agent.close(), channel.end()]);
      if (code !== 0) session.note('agent', `An agent exited with ${signal ?? `code ${code}`}`);
      agents.delete(agent);
    });
    sessions.add(ended);
    void ended.catch(() => undefined).finally(() => sessions.delete(ended));
    await launched;
  }

  const server = await listenAcp(accept, {
    ...{ host, port, token: secret, insecure, origins, allowBatches, tls: tlsFiles(options) },
    // The default depends on the address.
    allowHttp1: http1 || undefined,
    onError: ({ message }) => session.note('connection', message),
  }).catch((thrown: unknown) => {
    throw notStarted(thrown);
  });
  const close = async (): Promise<void> => {
    isClosing = true;
    await server.close();
    await Promise.allSettled(sessions);
  };
  const terminate = (): void => {
    server.terminate();
    for (const agent of agents) void agent.close();
  };
  const closed = endBySignal(close, terminate);
  const { http, ws } = server;
  await output.note(json ? toJson({ http, ws }) : `${http}\n${ws}`);
  await closed;
  return 0;
}
