/** The MCP servers of `pegwire arcp serve --mcp`. They are connected again when their connection has ended. */
import process from 'node:process';
import type { Client, Transport } from '@modelcontextprotocol/client';
import { type WrappedMcp, wrapMcp } from '../../../arcp/mcp/index.js';
import type { Runtime } from '../../../arcp/runtime/index.js';
import { after, backoff } from '../../../async/timers.js';
import { systemReason } from '../../../text/system-reason.js';
import { UsageError } from '../../io/errors.js';
import { packageVersion } from '../../io/package.js';

const RECONNECT = { minDelayMs: 500, maxDelayMs: 30_000 };

/** A server after the prefix of its names. No variable of a shell has such a name. */
const PREFIXED = /^(?:([\w-]+\.)=)?(.*)$/s;

/** A connection to an MCP server, whose tools are those of a runtime. */
export class McpServer {
  readonly #name: string;
  readonly #client: Client;
  readonly #dial: () => Transport;
  readonly #warn: (error: Error) => void;
  #wrapped: WrappedMcp | undefined;
  #isReconnecting = false;
  #isClosed = false;
  #cancelDelay: (() => void) | undefined;

  private constructor(name: string, client: Client, dial: () => Transport, warn: (error: Error) => void) {
    this.#name = name;
    this.#client = client;
    this.#dial = dial;
    this.#warn = warn;
  }

  /**
   * Connects to a server, and adds its tools to a runtime.
   *
   * @param name a shell command, or an http URL
   * @param warn receives errors after the first connection
   * @throws UsageError if the SDK is not installed, or the server cannot be used
   */
  static async connect(runtime: Runtime, text: string, warn: (error: Error) => void): Promise<McpServer> {
    const [, prefix, name = ''] = PREFIXED.exec(text)!;
    const { Client, StdioClientTransport, StreamableHTTPClientTransport } = await loadSdk();
    const client = new Client({ name: 'pegwire', version: packageVersion() }, { versionNegotiation: { mode: 'auto' } });
    const dial = isUrl(name)
      ? () => new StreamableHTTPClientTransport(new URL(name), { fetch: endingSessions(client) })
      : () => new StdioClientTransport(shellOf(name));
    const server = new McpServer(name, client, dial, warn);
    try {
      await client.connect(dial());
      client.onclose = () => void server.#reconnect();
      server.#wrapped = await wrapMcp(runtime, client, { prefix, onError: (error) => warn(server.#outdated(error)) });
    } catch (thrown) {
      await server.close();
      throw new UsageError(server.#fault(thrown).message, isUrl(name) ? 'unreachable' : 'target');
    }
    return server;
  }

  /** Ends the connection. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#cancelDelay?.();
    await this.#client.close();
  }

  async #reconnect(): Promise<void> {
    if (this.#isReconnecting || this.#isClosed) return;
    this.#isReconnecting = true;
    this.#warn(new Error(`The connection to the MCP server ${this.#name} has ended; connecting again`));
    for (let failures = 1; !this.#isClosed; failures++) {
      await new Promise<void>((resolve) => {
        this.#cancelDelay = after(backoff(failures, RECONNECT), resolve);
      });
      try {
        await this.#client.connect(this.#dial());
        await this.#wrapped?.refresh();
        break;
      } catch (error) {
        await this.#client.close();
        // The reasons of later attempts are most often the same.
        if (failures === 1) this.#warn(this.#fault(error));
      }
    }
    this.#isReconnecting = false;
    if (this.#isClosed) await this.#client.close();
  }

  #fault(thrown: unknown): Error {
    return new Error(`The MCP server ${this.#name} cannot be used: ${systemReason(thrown).replace(/\.$/, '')}`);
  }

  #outdated(thrown: unknown): Error {
    return new Error(`The tools of the MCP server ${this.#name} are not up to date: ${systemReason(thrown)}`);
  }
}

async function loadSdk() {
  try {
    const [main, stdio] = await Promise.all([
      import('@modelcontextprotocol/client'),
      import('@modelcontextprotocol/client/stdio'),
    ]);
    return { ...main, ...stdio };
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code !== 'ERR_MODULE_NOT_FOUND') throw thrown;
    throw new UsageError(
      '--mcp requires the package @modelcontextprotocol/client: npm install @modelcontextprotocol/client',
      'missing-package',
    );
  }
}

function isUrl(name: string): boolean {
  return /^https?:\/\//.test(name);
}

/** Returns the parameters of a server that a shell starts, with the environment of this process. */
function shellOf(command: string) {
  const env = Object.entries(process.env).filter((entry): entry is [string, string] => entry[1] !== undefined);
  const [shell, ...args] = process.platform === 'win32' ? ['cmd', '/d', '/s', '/c'] : ['/bin/sh', '-c'];
  return { command: shell!, args: [...args, command], env: Object.fromEntries(env) };
}

/**
 * Returns a `fetch` that ends the connection when the server does not know its session (MCP, "Session Management": status 404). Servers that
 * follow the examples of the SDK answer with 400.
 */
function endingSessions(client: Client): typeof fetch {
  return async (input, init) => {
    const response = await fetch(input, init);
    const { status } = response;
    if ((status === 404 || status === 400) && new Headers(init?.headers).has('mcp-session-id')) {
      const isUnknown = status === 404 || /session/i.test(await response.clone().text());
      if (isUnknown) void client.close();
    }
    return response;
  };
}
