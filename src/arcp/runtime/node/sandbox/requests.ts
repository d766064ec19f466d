// biome-ignore-all lint/correctness/noNodejsModules: processes are of Node
/** The methods that a sandboxed tool may call, with their arguments. */
import { Buffer } from 'node:buffer';
import * as z from 'zod';
import { ArcpError } from '../../../protocol/errors.js';
import { LOG_LEVELS } from '../../../protocol/payloads/event.js';
import { members } from '../../../protocol/payloads/parts.js';
import { STREAM_KINDS, type StreamKind } from '../../../protocol/payloads/streaming.js';
import type { Content, StreamWriter } from '../../../streams/content.js';
import type { JobContext, Lease } from '../../types.js';
import type { BrokerServices } from '../broker.js';

export type ToolScope = ReturnType<typeof toolScope>;

const MOST_STREAMS = 64;
const MOST_LEASES = 1024;

export function toolScope(
  context: JobContext,
  broker: ((context: JobContext) => BrokerServices) | undefined,
  tools: readonly string[],
) {
  return {
    context,
    broker: broker?.(context),
    tools,
    incoming: new HandleTable<number, AsyncIterator<Content>>('stream', MOST_STREAMS),
    streams: new HandleTable<number, StreamWriter>('stream', MOST_STREAMS),
    leases: new HandleTable<string, Pick<Lease, 'use'>>('lease', MOST_LEASES),
  };
}

type Answer = (asked: ToolScope, args: readonly unknown[]) => unknown;

function on<T extends z.ZodType>(args: T, answer: (asked: ToolScope, args: z.output<T>) => unknown): Answer {
  return (asked, given) => {
    const judged = args.safeParse(given);
    if (judged.success) return answer(asked, judged.data);
    throw new ArcpError('INVALID_ARGUMENT', 'The arguments are not what it takes', {
      details: { issues: judged.error.issues.map(({ path, message }) => ({ path: path.join('.'), message })) },
    });
  };
}

const id = z.number().int().min(0);
const text = z.string();
const base64 = z.base64();
const wish = z.strictObject({
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

/** Steps are handled elsewhere, since the tool runs them. */
const ANSWERS: ReadonlyMap<string, Answer> = new Map(
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
    permission: on(z.tuple([wish]), async ({ context, leases }, [wanted]) => {
      leases.assertRoom();
      const { use, ...lease } = await context.permission(wanted);
      leases.add(lease.leaseId, { use });
      return lease;
    }),
    'lease.use': on(
      z.tuple([text, z.strictObject({ resource: text.optional(), operation: text.optional() }).optional()]),
      ({ leases }, [leaseId, wanted]) => leases.get(leaseId).use(wanted),
    ),
    call: on(z.tuple([text, members]), ({ context, tools }, [tool, args]) => {
      if (!tools.includes(tool)) throw new ArcpError('PERMISSION_DENIED', `The sandbox may not call the tool ${tool}`);
      return context.call(tool, args);
    }),
    // Synchronous, since writes follow.
    'stream.open': on(z.tuple([id, openStream]), ({ context, streams }, [key, options]) => {
      streams.assertRoom();
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
      incoming.assertRoom();
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
    'fs.readFile': on(z.tuple([text]), (asked, [file]) => brokerOf(asked).fs.readFile(file)),
    'fs.list': on(z.tuple([text]), (asked, [folder]) => brokerOf(asked).fs.list(folder)),
    'fs.writeFile': on(z.tuple([text, text]), (asked, [file, content]) => brokerOf(asked).fs.writeFile(file, content)),
    'fs.remove': on(z.tuple([text]), (asked, [file]) => brokerOf(asked).fs.remove(file)),
    fetch: on(z.tuple([z.url(), request]), (asked, [url, init]) => ask(brokerOf(asked), url, init)),
    exec: on(
      z.tuple([
        text,
        z.array(text).max(10_000),
        z.strictObject({ input: text.optional(), cwd: text.optional() }).optional(),
      ]),
      (asked, [program, args, options]) => brokerOf(asked).exec(program, args, options),
    ),
  }),
);

export async function handleRequest(asked: ToolScope, method: string, args: readonly unknown[]): Promise<unknown> {
  const found = ANSWERS.get(method);
  if (found === undefined) throw new ArcpError('UNIMPLEMENTED', `A sandbox has no ${method}`);
  return found(asked, args);
}

function brokerOf({ broker }: ToolScope): BrokerServices {
  if (broker === undefined) throw new ArcpError('PERMISSION_DENIED', 'The sandbox was given no broker');
  return broker;
}

function contentOf(kind: StreamKind, content: unknown): Content {
  if (kind !== 'binary') return content as Content;
  const judged = base64.safeParse(content);
  if (judged.success) return Buffer.from(judged.data, 'base64');
  throw new ArcpError('INVALID_ARGUMENT', 'A binary stream carries bytes');
}

async function ask(broker: BrokerServices, url: string, init: z.output<typeof request>): Promise<unknown> {
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
  readonly #what: string;
  readonly #most: number;
  readonly #all = new Map<K, T>();

  constructor(what: string, most: number) {
    this.#what = what;
    this.#most = most;
  }

  assertRoom(): void {
    if (this.#all.size < this.#most) return;
    throw new ArcpError('RESOURCE_EXHAUSTED', `A sandboxed tool has at most ${this.#most} of ${this.#what} at once`, {
      retryable: false,
    });
  }

  add(name: K, held: T): void {
    this.#all.set(name, held);
  }

  get(name: K): T {
    const found = this.#all.get(name);
    if (found === undefined) throw new ArcpError('NOT_FOUND', `There is no such ${this.#what}`);
    return found;
  }

  take(name: K): T {
    const found = this.get(name);
    this.#all.delete(name);
    return found;
  }
}
