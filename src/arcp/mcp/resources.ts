/** MCP resources as streams (spec 003, "MCP Compatibility": resource). */
import { abortable, linkSignals } from '../../async/abort.js';
import { deferred, ignoreRejection } from '../../async/listeners.js';
import { isRecord } from '../../text/guards.js';
import { ArcpError } from '../protocol/errors.js';
import type { JobContext } from '../runtime/types.js';
import type { McpConnection, Members } from './connection.js';
import { streamed } from './content.js';
import { notConnected } from './errors.js';
import type { WrappedTool } from './tools.js';
import { expand, variablesOf } from './uri-template.js';

const READ_ONLY = { readOnlyHint: true };
const URI_INPUT = { type: 'object', properties: { uri: { type: 'string' } }, required: ['uri'] };

/** Wraps `resources/read`, which reads any resource. */
export function wrapRead(connection: McpConnection): WrappedTool {
  return {
    name: 'resources/read',
    options: { description: 'Reads a resource', schemas: { input: URI_INPUT }, annotations: READ_ONLY },
    handler: (args, context) => read(connection, uriOf(args), context),
  };
}

/** Wraps a resource as `resources/URI`. */
export function wrapResource(connection: McpConnection, resource: Members): WrappedTool {
  const uri = String(resource['uri']);
  return {
    name: `resources/${uri}`,
    options: {
      description: descriptionOf(resource),
      schemas: { input: { type: 'object', properties: {} } },
      annotations: READ_ONLY,
    },
    handler: (_, context) => read(connection, uri, context),
  };
}

/** Wraps a template of resources as `resources/TEMPLATE`. The arguments are the variables of the template. */
export function wrapTemplate(connection: McpConnection, template: Members): WrappedTool {
  const uriTemplate = String(template['uriTemplate']);
  const variables = variablesOf(uriTemplate);
  const properties = Object.fromEntries(variables.map(({ name }) => [name, { type: ['string', 'number', 'array'] }]));
  const required = variables.filter(({ isRequired }) => isRequired).map(({ name }) => name);
  return {
    name: `resources/${uriTemplate}`,
    options: {
      description: descriptionOf(template),
      schemas: { input: { type: 'object', properties, required } },
      annotations: READ_ONLY,
    },
    handler: (args, context) => {
      const missing = required.filter((name) => (args as Members)[name] === undefined);
      if (missing.length > 0) throw new ArcpError('INVALID_ARGUMENT', `${missing.join(', ')}: required`);
      return read(connection, expand(uriTemplate, args as Members), context);
    },
  };
}

function descriptionOf({ title, name, description = title ?? name }: Members): string | undefined {
  return typeof description === 'string' ? description : undefined;
}

function uriOf(args: unknown): string {
  const { uri } = args as { readonly uri?: unknown };
  if (typeof uri !== 'string' || uri === '') throw new ArcpError('INVALID_ARGUMENT', 'uri must be a non-empty string');
  return uri;
}

/** Reads a resource, and streams each of its contents. The result describes them, and contains those that are not large. */
async function read(connection: McpConnection, uri: string, context: JobContext): Promise<Members> {
  const result = await requestRead(connection, uri, context.signal);
  const contents: Members[] = [];
  for (const content of result.contents) contents.push(await streamed(content, context));
  return { ...result, contents };
}

async function requestRead(connection: McpConnection, uri: string, signal: AbortSignal) {
  const result = await connection.request('resources/read', { uri }, { signal, isRepeatable: true });
  const { contents } = result;
  return { ...result, contents: Array.isArray(contents) ? contents.filter(isRecord) : [] };
}

/** A subscription of the server, which jobs share. */
interface Subscription {
  /** Called with the URI of each update. */
  readonly listeners: Set<(uri: string) => void>;
  /** Resolves with the function that ends it. */
  readonly opened: Promise<() => Promise<unknown>>;
}

/** The subscriptions of running jobs to resources of one server. */
export class Subscriptions {
  readonly #connection: McpConnection;
  readonly #open = new Map<string, Subscription>();
  readonly #closing = new Map<string, Promise<unknown>>();
  #current = new AbortController();

  constructor(connection: McpConnection) {
    this.#connection = connection;
  }

  /** Wraps subscriptions as `resources/subscribe`: a job with a stream of events, which are the contents now and after each update. */
  wrap(): WrappedTool {
    return {
      name: 'resources/subscribe',
      options: {
        durable: true,
        description: 'Streams the contents of a resource, now and after each update, until the job is cancelled',
        schemas: { input: URI_INPUT },
        annotations: READ_ONLY,
      },
      handler: (args, context) => this.#follow(uriOf(args), context),
    };
  }

  /** Handles `notifications/resources/updated`. The URI may be that of a part of a subscribed resource. */
  updated(uri: unknown): void {
    if (typeof uri !== 'string') return;
    for (const [subscribed, { listeners }] of this.#open)
      if (uri === subscribed || uri.startsWith(`${subscribed.replace(/\/$/, '')}/`))
        for (const listener of listeners) listener(uri);
  }

  /** Forgets all subscriptions, which have ended with the connection. */
  disconnected(): void {
    this.#open.clear();
    this.#closing.clear();
    this.end(notConnected());
  }

  /** Fails the jobs of all subscriptions. */
  end(error: ArcpError): void {
    this.#current.abort(error);
    this.#current = new AbortController();
  }

  async #follow(uri: string, context: JobContext): Promise<never> {
    const { signal, release } = linkSignals(context.signal, this.#current.signal);
    const changed = new Set([uri]);
    let wake = deferred();
    const listener = (updated: string): void => {
      changed.add(updated);
      wake.resolve();
    };
    try {
      await abortable(this.#add(uri, listener), signal);
      const stream = context.stream({ kind: 'event', name: uri });
      for (;;) {
        wake = deferred();
        // An update during a read causes another one.
        for (const next of changed) {
          changed.delete(next);
          await stream.write(await requestRead(this.#connection, next, signal));
        }
        await abortable(wake.promise, signal);
      }
    } finally {
      release();
      this.#remove(uri, listener);
    }
  }

  async #add(uri: string, listener: (uri: string) => void): Promise<void> {
    let subscription = this.#open.get(uri);
    if (subscription === undefined) {
      const closed = this.#closing.get(uri) ?? Promise.resolve();
      const opened = ignoreRejection(closed.then(() => this.#connection.subscribe(uri)));
      subscription = { listeners: new Set(), opened };
      this.#open.set(uri, subscription);
    }
    subscription.listeners.add(listener);
    await subscription.opened;
  }

  #remove(uri: string, listener: (uri: string) => void): void {
    const subscription = this.#open.get(uri);
    if (subscription?.listeners.delete(listener) !== true || subscription.listeners.size > 0) return;
    this.#open.delete(uri);
    const closed = subscription.opened.then((end) => end()).catch(() => undefined);
    this.#closing.set(uri, closed);
    void closed.then(() => this.#closing.get(uri) === closed && this.#closing.delete(uri));
  }
}
