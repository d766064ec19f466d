/**
 * Requests to an MCP server, through a client of the official SDK: `@modelcontextprotocol/sdk` (line 1) or `@modelcontextprotocol/client`
 * (line 2). Neither is imported.
 */
import * as z from 'zod/mini';
import { LONGEST_TIMER } from '../../async/timers.js';
import { isRecord } from '../../text/guards.js';
import { ArcpError } from '../protocol/errors.js';
import { answerError, idleError, lostError, notConnected, notSentError } from './errors.js';

/** The part of the SDK's `Client`, connected to a server, that {@link wrapMcp} uses. */
export interface McpClient {
  /** The transport; `undefined` without a connection. */
  readonly transport?: object | undefined;
  /** Receives the notifications that no other handler receives. */
  fallbackNotificationHandler?: ((notification: never) => Promise<void>) | undefined;
  /** Called when the connection has ended. */
  onclose?: (() => void) | undefined;
  /** Returns the capabilities of the server. */
  getServerCapabilities(): object | undefined;
  /** Sends a request. */
  request(
    request: { method: string; params?: { [name: string]: unknown } },
    resultSchema: never,
    options?: never,
  ): Promise<unknown>;
}

/** The members of both lines, and the methods of line 2 that do more than their request. */
interface Sdk {
  readonly transport?: object | undefined;
  fallbackNotificationHandler?: ((notification: McpNotification) => Promise<void>) | undefined;
  onclose?: (() => void) | undefined;
  readonly getServerCapabilities: () => Readonly<Record<string, unknown>> | undefined;
  readonly request: (request: object, resultSchema: unknown, options?: object) => Promise<unknown>;
  readonly listTools: (params: undefined, options: object) => Promise<unknown>;
  readonly callTool: (params: object, options: object) => Promise<unknown>;
  readonly getProtocolEra?: () => 'legacy' | 'modern' | undefined;
  readonly listen: (filter: object) => Promise<{ readonly close: () => Promise<void> }>;
}

/** A notification of the server. */
export interface McpNotification {
  readonly method: string;
  readonly params?: Readonly<Record<string, unknown>> | undefined;
}

export interface RequestOptions {
  readonly signal?: AbortSignal | undefined;
  readonly onprogress?: ((progress: Readonly<Record<string, unknown>>) => void) | undefined;
  /** If true, the server may execute the request again. */
  readonly isRepeatable: boolean;
}

export type Members = Readonly<Record<string, unknown>>;

const ANY_RESULT = z.looseObject({});
const MAX_PAGES = 1000;

/** Requests to one server. */
export class McpConnection {
  readonly #sdk: Sdk;
  readonly #idleTimeoutMs: number;

  /** @param idleTimeoutMs milliseconds without a result or progress after which a request fails; `Infinity` for no limit */
  constructor(client: McpClient, idleTimeoutMs: number) {
    this.#sdk = client as unknown as Sdk;
    this.#idleTimeoutMs = idleTimeoutMs;
  }

  get isOpen(): boolean {
    return this.#sdk.transport !== undefined;
  }

  /** Returns the value of a capability of the server; `undefined` without it. */
  capability(name: string): Members | undefined {
    const value = this.#sdk.getServerCapabilities()?.[name];
    return isRecord(value) ? value : undefined;
  }

  /** Sends a request. @throws ArcpError the server's error, or one that states whether the request may be repeated */
  request(method: string, params: Members, { isRepeatable, ...options }: RequestOptions): Promise<Members> {
    const send = () => this.#sdk.request({ method, params }, ANY_RESULT, { ...this.#timeout, ...options });
    return this.#send(method, send, { isRepeatable, ...options });
  }

  /** Sends `tools/call`. */
  callTool(tool: Members, params: Members, { isRepeatable, ...options }: RequestOptions): Promise<Members> {
    if (!this.#isLine2) return this.request('tools/call', params, { isRepeatable, ...options });
    // It sends some arguments in headers, too. Without the schema of the output, it does not reject results after the execution.
    const toolDefinition = { name: tool['name'], inputSchema: tool['inputSchema'] };
    const send = () => this.#sdk.callTool(params, { ...this.#timeout, ...options, toolDefinition });
    return this.#send('tools/call', send, { isRepeatable, ...options });
  }

  /** Returns the items of all pages of a list. @throws ArcpError `INTERNAL` if the pages do not end */
  async list(method: string, member: string): Promise<readonly Members[]> {
    const items: Members[] = [];
    const seen = new Set<unknown>();
    for (let cursor: unknown; ; ) {
      const page = await this.#page(method, cursor);
      const found = page[member];
      if (Array.isArray(found)) items.push(...found.filter(isRecord));
      cursor = page['nextCursor'];
      if (cursor === undefined || cursor === null) return items;
      if (seen.has(cursor) || seen.size === MAX_PAGES)
        throw new ArcpError('INTERNAL', `The pages of ${method} of the MCP server do not end`);
      seen.add(cursor);
    }
  }

  /** Returns the items of a list; none if the server does not know the method. */
  async listIfSupported(method: string, member: string): Promise<readonly Members[]> {
    try {
      return await this.list(method, member);
    } catch (thrown) {
      if (thrown instanceof ArcpError && thrown.details?.['json_rpc_code'] === -32601) return [];
      throw thrown;
    }
  }

  #page(method: string, cursor: unknown): Promise<Members> {
    // It omits the tools that line 2 must not call.
    if (method === 'tools/list' && this.#isLine2)
      return this.#send(method, () => this.#sdk.listTools(undefined, { cacheMode: 'refresh' }), { isRepeatable: true });
    return this.request(method, cursor === undefined ? {} : { cursor }, { isRepeatable: true });
  }

  /** Calls listeners for each notification and the end of each connection, besides those that the client has. @returns a function that stops */
  listen(onNotification: (notification: McpNotification) => void, onEnd: () => void): () => void {
    const sdk = this.#sdk;
    const { fallbackNotificationHandler, onclose } = sdk;
    const notified = async (notification: McpNotification): Promise<void> => {
      onNotification(notification);
      await fallbackNotificationHandler?.(notification);
    };
    const ended = (): void => {
      onEnd();
      onclose?.();
    };
    sdk.fallbackNotificationHandler = notified;
    sdk.onclose = ended;
    return () => {
      if (sdk.fallbackNotificationHandler === notified) sdk.fallbackNotificationHandler = fallbackNotificationHandler;
      if (sdk.onclose === ended) sdk.onclose = onclose;
    };
  }

  /** Requests notifications of changed lists, which older servers send without a request. @returns a function that ends them */
  async watchLists(): Promise<() => Promise<void>> {
    const watched = ['tools', 'resources', 'prompts'].filter((name) => this.capability(name)?.['listChanged'] === true);
    if (!this.#isModern || watched.length === 0) return async () => {};
    const subscription = await this.#sdk.listen(
      Object.fromEntries(watched.map((name) => [`${name}ListChanged`, true])),
    );
    return subscription.close;
  }

  /** Subscribes to a resource. @returns a function that ends the subscription */
  async subscribe(uri: string): Promise<() => Promise<unknown>> {
    const isRepeatable = true;
    if (!this.#isModern) {
      await this.request('resources/subscribe', { uri }, { isRepeatable });
      return () => this.request('resources/unsubscribe', { uri }, { isRepeatable });
    }
    const listen = () => this.#sdk.listen({ resourceSubscriptions: [uri] });
    const subscription = await this.#send('subscriptions/listen', listen, { isRepeatable });
    return subscription['close'] as () => Promise<void>;
  }

  /** `true` if the server executes calls of tools as tasks. Revision 2026-07-28 has no tasks of this form. */
  get supportsTasks(): boolean {
    const { requests } = this.capability('tasks') ?? {};
    const { tools } = isRecord(requests) ? requests : {};
    return !this.#isModern && isRecord(tools) && isRecord(tools['call']);
  }

  /**
   * The timeout of requests. The SDK does not report that an HTTP stream has ended without the answer, so nothing else ends such a request. The
   * whole request has no limit: jobs have their own.
   */
  get #timeout() {
    return { timeout: Math.min(this.#idleTimeoutMs, LONGEST_TIMER), resetTimeoutOnProgress: true };
  }

  get #isLine2(): boolean {
    return this.#sdk.getProtocolEra !== undefined;
  }

  /** Revision 2026-07-28 has subscriptions of its own. */
  get #isModern(): boolean {
    return this.#sdk.getProtocolEra?.() === 'modern';
  }

  async #send(method: string, send: () => Promise<unknown>, options: RequestOptions): Promise<Members> {
    const { signal, isRepeatable } = options;
    signal?.throwIfAborted();
    if (!this.isOpen) throw notConnected();
    let result: unknown;
    try {
      result = await send();
    } catch (thrown) {
      // The SDK has requested the server to cancel it.
      signal?.throwIfAborted();
      throw (
        idleError(thrown, this.#timeout.timeout, isRepeatable) ??
        (this.isOpen ? answerError(thrown) : undefined) ??
        notSentError(thrown) ??
        lostError(thrown, isRepeatable)
      );
    }
    if (isRecord(result)) return result;
    throw new ArcpError('INTERNAL', `The result of ${method} of the MCP server is not an object`);
  }
}
