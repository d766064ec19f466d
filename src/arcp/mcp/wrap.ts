/** Wrapping of MCP servers: their tools, resources and prompts become tools of a runtime. */
import { assertDurations } from '../../async/durations.js';
import { notifyListener } from '../../async/listeners.js';
import { ArcpError } from '../protocol/errors.js';
import { canonicalJson } from '../protocol/json.js';
import { resolveRetry } from '../runtime/job/spec.js';
import type { Runtime } from '../runtime/runtime.js';
import type { ToolOptions } from '../runtime/types.js';
import { type McpClient, McpConnection, type McpNotification, type Members } from './connection.js';
import { notConnected } from './errors.js';
import { Subscriptions, wrapRead, wrapResource, wrapTemplate } from './resources.js';
import { type WrappedTool, wrapPrompt, wrapTool } from './tools.js';

/** Options of {@link wrapMcp}. */
export interface WrapMcpOptions {
  /** Precedes the names of the tools: `files.` makes `read` to `files.read`. @default '' */
  readonly prefix?: string | undefined;
  /** If true, calls of MCP tools become durable jobs where client and session allow it. @default true */
  readonly durable?: boolean | undefined;
  /**
   * Milliseconds without a result or progress after which a request fails with an unknown outcome; `Infinity` for no limit. Over HTTP, nothing
   * else ends a request whose answer was lost. @default 1800000 (30 minutes)
   */
  readonly idleTimeoutMs?: number | undefined;
  /** Further options of all tools, such as their queue. */
  readonly tools?: Pick<ToolOptions, 'isPublic' | 'priority' | 'queue' | 'retry' | 'timeoutMs'> | undefined;
  /**
   * Receives errors that no call reports: those of lists that are read again, and once `ALREADY_EXISTS` with the names of new tools that are taken.
   */
  readonly onError?: ((error: unknown) => void) | undefined;
}

/** A wrapped MCP server. */
export interface WrappedMcp {
  /** The names of its tools in the runtime. */
  readonly names: readonly string[];
  /**
   * Reads the lists of the server again, as after a notification. Call it after the client has connected again. New tools whose names are taken are
   * left out, and reported to `onError`.
   *
   * @throws ArcpError if the server fails; nothing has changed then
   */
  readonly refresh: () => Promise<void>;
  /** Removes the tools from the runtime, and ends subscriptions. Calls continue, and the client stays connected. */
  readonly remove: () => Promise<void>;
}

/**
 * Adds the tools, resources and prompts of an MCP server to a runtime, and keeps them up to date.
 *
 * Tools keep their names. Resources, templates and prompts become `resources/URI`, `resources/TEMPLATE` and `prompts/NAME`; `resources/read` reads
 * any resource, and `resources/subscribe` streams its contents after each update.
 *
 * A tool is called once for each job, unless its annotations have `idempotentHint` or `readOnlyHint`. Calls by other tools need a `key` for that
 * (`CallOptions`). Wrap servers before `runtime.start`, so that jobs of earlier processes find their tools.
 *
 * Source: spec 003, "MCP Compatibility".
 *
 * @param client a connected `Client` of `@modelcontextprotocol/sdk` or `@modelcontextprotocol/client`
 * @throws TypeError if a name is already registered, or an option is invalid
 * @throws ArcpError if the server cannot be reached, or its lists cannot be read
 * @example
 * const client = new Client({ name: 'host', version: '1.0.0' });
 * await client.connect(new StdioClientTransport({ command: 'npx', args: ['@modelcontextprotocol/server-everything'] }));
 * await wrapMcp(runtime, client);
 */
export async function wrapMcp(
  runtime: Pick<Runtime, 'tool' | 'remove'>,
  client: McpClient,
  options: WrapMcpOptions = {},
): Promise<WrappedMcp> {
  const { idleTimeoutMs, tools = {} } = options;
  assertDurations({ idleTimeoutMs, timeoutMs: tools.timeoutMs });
  resolveRetry(tools.retry);
  const wrapper = new Wrapper(runtime, client, options);
  await wrapper.start();
  return wrapper;
}

const IDLE_TIMEOUT_MS = 30 * 60 * 1000;

/** The parts of a server whose lists change separately. */
const PARTS = ['tools', 'resources', 'prompts'] as const;
type Part = (typeof PARTS)[number];

class Wrapper implements WrappedMcp {
  readonly #runtime: Pick<Runtime, 'tool' | 'remove'>;
  readonly #connection: McpConnection;
  readonly #options: WrapMcpOptions;
  readonly #subscriptions: Subscriptions;
  /** The registered tools of each part: the descriptions that they were made of, by their names. */
  readonly #registered: Readonly<Record<Part, Map<string, string>>> = {
    tools: new Map(),
    resources: new Map(),
    prompts: new Map(),
  };
  /** The names of tools that could not be registered. */
  readonly #taken = new Set<string>();
  #isStarted = false;
  #reading: Promise<void> = Promise.resolve();
  /** The last reads of the parts, if they have not begun. */
  readonly #waiting = new Map<Part, Promise<void>>();
  #isRemoved = false;
  #stopListening: (() => void) | undefined;
  #stopWatching: (() => Promise<void>) | undefined;

  constructor(runtime: Pick<Runtime, 'tool' | 'remove'>, client: McpClient, options: WrapMcpOptions) {
    this.#runtime = runtime;
    this.#connection = new McpConnection(client, options.idleTimeoutMs ?? IDLE_TIMEOUT_MS);
    this.#options = options;
    this.#subscriptions = new Subscriptions(this.#connection);
    this.#stopListening = this.#connection.listen(
      (notification) => this.#notified(notification),
      () => this.#subscriptions.disconnected(),
    );
  }

  get names(): readonly string[] {
    return PARTS.flatMap((part) => [...this.#registered[part].keys()]);
  }

  async start(): Promise<void> {
    try {
      await this.refresh();
      this.#isStarted = true;
    } catch (thrown) {
      await this.remove();
      throw thrown;
    }
  }

  readonly refresh = async (): Promise<void> => {
    // A client that was never connected knows no capabilities.
    if (!this.#connection.isOpen) throw notConnected();
    await this.#stopWatching?.();
    // Before the lists are read, so that no change between is missed.
    this.#stopWatching = await this.#connection.watchLists();
    await this.#read(PARTS);
  };

  readonly remove = async (): Promise<void> => {
    this.#isRemoved = true;
    this.#stopListening?.();
    this.#subscriptions.end(new ArcpError('UNAVAILABLE', 'The MCP server was removed', { retryable: false }));
    for (const part of PARTS) this.#register(part, []);
    await this.#stopWatching?.();
  };

  #notified({ method, params }: McpNotification): void {
    if (method === 'notifications/resources/updated') this.#subscriptions.updated(params?.['uri']);
    const part = PARTS.find((one) => method === `notifications/${one}/list_changed`);
    if (part === undefined || this.#waiting.has(part)) return;
    this.#read([part]).catch((error) => this.#report(error));
  }

  #report(error: unknown): void {
    notifyListener(() => this.#options.onError?.(error));
  }

  /** Reads lists after those that are being read, so that the last ones count. A read that has not begun serves further notifications. */
  #read(parts: readonly Part[]): Promise<void> {
    const reading = this.#reading.then(async () => {
      for (const part of parts) if (this.#waiting.get(part) === reading) this.#waiting.delete(part);
      const lists: (readonly [Part, readonly WrappedTool[]])[] = [];
      for (const part of parts) lists.push([part, await this.#list(part)]);
      if (!this.#isRemoved) this.#registerAll(lists);
    });
    for (const part of parts) this.#waiting.set(part, reading);
    this.#reading = reading.catch(() => undefined);
    return reading;
  }

  async #list(part: Part): Promise<readonly WrappedTool[]> {
    const connection = this.#connection;
    const capability = connection.capability(part);
    if (capability === undefined) return [];
    const items = await connection.list(`${part}/list`, part);
    const wrapAll = (all: readonly Members[], wrap: (of: McpConnection, item: Members) => WrappedTool) =>
      all.map((item) => wrap(connection, item));
    if (part === 'tools') return wrapAll(items, (of, tool) => wrapTool(of, tool, this.#options.durable ?? true));
    if (part === 'prompts') return wrapAll(items, wrapPrompt);
    const templates = await connection.listIfSupported('resources/templates/list', 'resourceTemplates');
    return [
      wrapRead(connection),
      ...(capability['subscribe'] === true ? [this.#subscriptions.wrap()] : []),
      ...wrapAll(items, wrapResource),
      ...wrapAll(templates, wrapTemplate),
    ];
  }

  /** Registers the tools of parts. One name that is taken does not affect the others. */
  #registerAll(lists: readonly (readonly [Part, readonly WrappedTool[]])[]): void {
    const failures = new Map<string, unknown>();
    for (const [part, found] of lists) this.#register(part, found, failures);
    const [first] = failures.values();
    if (first !== undefined && !this.#isStarted) throw first;
    const names = [...failures.keys()].filter((name) => !this.#taken.has(name));
    if (names.length === 0) return;
    for (const name of names) this.#taken.add(name);
    const list = names.map((name) => JSON.stringify(name)).join(', ');
    const message = `The names of tools of the MCP server are already registered: ${list}; give the server a prefix`;
    this.#report(new ArcpError('ALREADY_EXISTS', message, { details: { names }, cause: first }));
  }

  /** Registers the tools of a part, and removes those that the part has no more. */
  #register(part: Part, found: readonly WrappedTool[], failures = new Map<string, unknown>()): void {
    const { prefix = '', tools: common } = this.#options;
    const registered = this.#registered[part];
    const current = new Map(found.map((tool) => [prefix + tool.name, tool]));
    const descriptions = new Map([...current].map(([name, { options }]) => [name, canonicalJson(options)]));
    for (const [name, description] of registered) {
      if (descriptions.get(name) === description) continue;
      registered.delete(name);
      this.#runtime.remove(name);
    }
    for (const [name, { options, handler }] of current) {
      if (registered.has(name)) continue;
      try {
        this.#runtime.tool(name, { ...common, ...options }, handler);
        registered.set(name, descriptions.get(name)!);
        this.#taken.delete(name);
      } catch (error) {
        failures.set(name, error);
      }
    }
  }
}
