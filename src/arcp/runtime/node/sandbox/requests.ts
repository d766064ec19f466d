// biome-ignore-all lint/correctness/noNodejsModules: processes need Node
/** The methods that a sandboxed tool can call, with the schemas of their arguments. */
import { Buffer } from 'node:buffer';
import * as z from 'zod';
import { issueMessage } from '../../../../text/issue-message.js';
import { ArcpError } from '../../../protocol/errors.js';
import { LOG_LEVELS } from '../../../protocol/payloads/event.js';
import { members } from '../../../protocol/payloads/parts.js';
import { STREAM_KINDS, type StreamKind } from '../../../protocol/payloads/streaming.js';
import type { Content, StreamWriter } from '../../../streams/content.js';
import type { JobContext, Lease } from '../../types.js';
import type { BrokerServices } from '../broker.js';

export type ToolScope = ReturnType<typeof toolScope>;

const MAX_STREAMS = 64;
const MAX_LEASES = 1024;

export function toolScope(
  context: JobContext,
  broker: ((context: JobContext) => BrokerServices) | undefined,
  tools: readonly string[],
) {
  return {
    context,
    broker: broker?.(context),
    tools,
    incoming: new HandleTable<number, AsyncIterator<Content>>('stream', MAX_STREAMS),
    streams: new HandleTable<number, StreamWriter>('stream', MAX_STREAMS),
    leases: new HandleTable<string, Pick<Lease, 'use'>>('lease', MAX_LEASES),
  };
}

type Method = (scope: ToolScope, args: readonly unknown[]) => unknown;

function on<T extends z.ZodType>(args: T, answer: (scope: ToolScope, args: z.output<T>) => unknown): Method {
  return (scope, given) => {
    const parsed = args.safeParse(given, { error: issueMessage });
    if (parsed.success) return answer(scope, parsed.data);
    throw new ArcpError('INVALID_ARGUMENT', 'The arguments are invalid', {
      details: { issues: parsed.error.issues.map(({ path, message }) => ({ path: path.join('.'), message })) },
    });
  };
}

const id = z.number().int().min(0);
const text = z.string();
const base64 = z.base64();
const permissionRequest = z.strictObject({
  permission: text,
  resource: text.optional(),
  operation: text.optional(),
  reason: text.optional(),
  // JSON has no infinity.
  leaseMs: z
    .number()
    .nullish()
    .transform((ms) => (ms === null ? Number.POSITIVE_INFINITY : ms)),
  risk: text.optional(),
  preview: z.unknown().optional(),
  key: text.optional(),
});
const openStream = z.strictObject({
  kind: z.enum(STREAM_KINDS),
  name: text.optional(),
  contentType: text.optional(),
  expectedBytes: z.number().int().min(0).optional(),
});
const request = z.strictObject({
  method: text.optional(),
  headers: z.array(z.tuple([text, text])).optional(),
  body: base64.optional(),
});

/** The methods by name. Steps are handled by the call, since the tool does their work. */
const METHODS: ReadonlyMap<string, Method> = new Map(
  Object.entries({
    progress: on(z.tuple([members]), ({ context }, [progress]) => context.progress(progress)),
    log: on(z.tuple([z.enum(LOG_LEVELS), text, z.optional(members)]), ({ context }, [level, message, attributes]) =>
      context.log(level, message, attributes),
    ),
    metric: on(z.tuple([members]), ({ context }, [metric]) =>
      context.metric(metric as Parameters<JobContext['metric']>[0]),
    ),
    emit: on(z.tuple([text, z.optional(members)]), ({ context }, [name, attributes]) => context.emit(name, attributes)),
    checkpoint: on(
      z.tuple([z.unknown(), z.strictObject({ label: text.optional(), isVisible: z.boolean().optional() }).optional()]),
      ({ context }, [data, options]) => context.checkpoint(data, options),
    ),
    permission: on(z.tuple([permissionRequest]), async ({ context, leases }, [requested]) => {
      leases.assertBelowLimit();
      const { use, ...lease } = await context.permission(requested);
      leases.add(lease.leaseId, { use });
      return lease;
    }),
    'lease.use': on(
      z.tuple([text, z.strictObject({ resource: text.optional(), operation: text.optional() }).optional()]),
      ({ leases }, [leaseId, requested]) => leases.get(leaseId).use(requested),
    ),
    call: on(z.tuple([text, members]), ({ context, tools }, [tool, args]) => {
      if (!tools.includes(tool))
        throw new ArcpError('PERMISSION_DENIED', `The sandbox may not call the tool ${tool}; list it in tools`);
      return context.call(tool, args);
    }),
    // Synchronous, since writes may follow at once.
    'stream.open': on(z.tuple([id, openStream]), ({ context, streams }, [key, options]) => {
      streams.assertBelowLimit();
      streams.add(key, context.stream(options));
    }),
    'stream.write': on(z.tuple([id, z.unknown()]), ({ streams }, [key, content]) => {
      const stream = streams.get(key);
      return stream.write(contentOf(stream.kind, content));
    }),
    'stream.close': on(z.tuple([id, text.optional()]), ({ streams }, [key, reason]) => streams.take(key).close(reason)),
    'stream.fail': on(z.tuple([id, text]), ({ streams }, [key, message]) =>
      streams.take(key).fail(new ArcpError('ABORTED', message)),
    ),
    'incoming.open': on(z.tuple([id, text.optional()]), ({ context, incoming }, [key, which]) => {
      incoming.assertBelowLimit();
      incoming.add(key, context.incoming(which));
    }),
    'incoming.next': on(z.tuple([id]), async ({ incoming }, [key]) => {
      const { done = false, value } = await incoming.get(key).next();
      if (done) incoming.take(key);
      return value instanceof Uint8Array ? { done, bytes: Buffer.from(value).toString('base64') } : { done, value };
    }),
    'incoming.return': on(z.tuple([id]), async ({ incoming }, [key]) => {
      await incoming.take(key).return?.();
    }),
    'fs.readFile': on(z.tuple([text]), (scope, [file]) => brokerOf(scope).fs.readFile(file)),
    'fs.list': on(z.tuple([text]), (scope, [folder]) => brokerOf(scope).fs.list(folder)),
    'fs.writeFile': on(z.tuple([text, text]), (scope, [file, content]) => brokerOf(scope).fs.writeFile(file, content)),
    'fs.remove': on(z.tuple([text]), (scope, [file]) => brokerOf(scope).fs.remove(file)),
    fetch: on(z.tuple([z.url(), request]), (scope, [url, init]) => fetchBy(brokerOf(scope), url, init)),
    exec: on(
      z.tuple([
        text,
        z.array(text).max(10_000),
        z.strictObject({ input: text.optional(), cwd: text.optional() }).optional(),
      ]),
      (scope, [program, args, options]) => brokerOf(scope).exec(program, args, options),
    ),
  }),
);

export async function handleRequest(scope: ToolScope, method: string, args: readonly unknown[]): Promise<unknown> {
  const found = METHODS.get(method);
  if (found === undefined) throw new ArcpError('UNIMPLEMENTED', `Sandboxes do not support ${method}`);
  return found(scope, args);
}

function brokerOf({ broker }: ToolScope): BrokerServices {
  if (broker === undefined)
    throw new ArcpError('PERMISSION_DENIED', 'The sandbox has no broker; set the broker option');
  return broker;
}

function contentOf(kind: StreamKind, content: unknown): Content {
  if (kind !== 'binary') return content as Content;
  const parsed = base64.safeParse(content);
  if (parsed.success) return Buffer.from(parsed.data, 'base64');
  throw new ArcpError('INVALID_ARGUMENT', 'Binary streams accept only bytes');
}

async function fetchBy(broker: BrokerServices, url: string, init: z.output<typeof request>): Promise<unknown> {
  const { method, headers, body } = init;
  const response = await broker.fetch(url, {
    ...(method === undefined ? {} : { method }),
    ...(headers === undefined ? {} : { headers: headers.map(([name, value]): [string, string] => [name, value]) }),
    ...(body === undefined ? {} : { body: Buffer.from(body, 'base64') }),
  });
  const { status, statusText } = response;
  const bytes = Buffer.from(await response.arrayBuffer());
  return { status, statusText, headers: [...response.headers], body: bytes.toString('base64') };
}

class HandleTable<K, T> {
  readonly #noun: string;
  readonly #limit: number;
  readonly #all = new Map<K, T>();

  constructor(noun: string, limit: number) {
    this.#noun = noun;
    this.#limit = limit;
  }

  assertBelowLimit(): void {
    if (this.#all.size < this.#limit) return;
    throw new ArcpError('RESOURCE_EXHAUSTED', `A sandboxed tool can have at most ${this.#limit} open ${this.#noun}s`, {
      retryable: false,
    });
  }

  add(name: K, handle: T): void {
    this.#all.set(name, handle);
  }

  get(name: K): T {
    const found = this.#all.get(name);
    if (found === undefined) throw new ArcpError('NOT_FOUND', `The ${this.#noun} does not exist`);
    return found;
  }

  take(name: K): T {
    const found = this.get(name);
    this.#all.delete(name);
    return found;
  }
}
