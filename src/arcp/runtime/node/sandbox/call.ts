// biome-ignore-all lint/correctness/noNodejsModules: processes are of Node
/** One call of a sandboxed tool: messages to and from its process, one JSON object per line, and its output. The tool is untrusted. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Readable } from 'node:stream';
import * as z from 'zod';
import { deferred } from '../../../../async/listeners.js';
import { after } from '../../../../async/timers.js';
import { LineDecoder } from '../../../../channels/line-decoder.js';
import { ArcpError, asArcpError, type ErrorBody, errorBodySchema } from '../../../protocol/errors.js';
import { readJson } from '../../../protocol/json.js';
import type { JobContext } from '../../types.js';
import { type Sandbox, startSandbox } from './process.js';
import { handleRequest, type ToolScope, toolScope } from './requests.js';
import type { SandboxSettings } from './types.js';

/** Bounds of pending requests; beyond them the pipe is paused. */
const MOST_ASKED = 64;
const MOST_ASKED_SIZE = 4 * 1024 * 1024;
/** Bound of running steps, which do not pause the pipe: their ends must be read. */
const MOST_STEPS = 256;

export async function runCall(settings: SandboxSettings, input: unknown, context: JobContext): Promise<unknown> {
  const own = await mkdtemp(path.join(tmpdir(), 'pegwire-sandbox-'));
  try {
    context.signal.throwIfAborted();
    return await new Call(settings, context, own).run(input);
  } finally {
    // The tool may have made it hard to delete; its outcome counts anyway.
    await rm(own, { recursive: true, force: true, maxRetries: 3 }).catch(() => {});
  }
}

/** The members of the context that the process gets. */
const CONTEXT = [
  ...(['jobId', 'commandId', 'sessionId', 'principal', 'trust', 'attempt', 'traceId', 'spanId'] as const),
  ...(['restored', 'operationKey', 'traceparent'] as const),
];

class Call {
  readonly #settings: SandboxSettings;
  readonly #context: JobContext;
  readonly #sandbox: Sandbox;
  readonly #asked: ToolScope;
  /** Aborted at the end, whoever caused it. */
  readonly #controller = new AbortController();
  readonly #steps = new Map<number, (worked: StepResult) => void>();
  #asking = 0;
  #askingSize = 0;
  #input: unknown;
  #isRunning = false;
  #hasEnded = false;
  readonly #outcome = deferred<{ readonly value: unknown } | { readonly error: unknown }>();

  constructor(settings: SandboxSettings, context: JobContext, own: string) {
    this.#settings = settings;
    this.#context = context;
    this.#asked = toolScope({ ...context, signal: this.#controller.signal }, settings.broker, settings.tools);
    // Last, since a started process must be ended.
    this.#sandbox = startSandbox(settings, own);
  }

  async run(input: unknown): Promise<unknown> {
    this.#input = input;
    const { signal } = this.#context;
    const { timeoutMs, maxOutputBytes } = this.#settings;
    const { child, pipe, exited, closed, kill } = this.#sandbox;
    signal.addEventListener('abort', this.#cancel, { once: true });
    const cancelTimeout = after(timeoutMs ?? Number.POSITIVE_INFINITY, this.#late);
    const printed = [
      logOutput(child.stdout, 'stdout', this.#context, maxOutputBytes),
      logOutput(child.stderr, 'stderr', this.#context, maxOutputBytes),
    ];
    this.#listen();
    // The last messages may hold the answer.
    void exited.then(() => pipe.resume());
    void closed.then(({ error }) => this.#outcome.resolve({ error: signal.aborted ? signal.reason : error }));
    const outcome = await this.#outcome.promise;
    this.#hasEnded = true;
    signal.removeEventListener('abort', this.#cancel);
    cancelTimeout();
    kill();
    pipe.destroy();
    this.#controller.abort('error' in outcome ? outcome.error : ENDED);
    await Promise.all([closed, ...printed]);
    for (const end of this.#steps.values()) end({ type: 'worked', id: 0, error: ENDED.toBody() });
    if ('error' in outcome) throw outcome.error;
    return outcome.value;
  }

  #listen(): void {
    const { pipe } = this.#sandbox;
    const decoder = new LineDecoder({ maxLineBytes: this.#settings.maxMessageBytes });
    const receiver = {
      text: (line: string) => this.#take(line),
      invalid: (why: string) => this.#fail(new ArcpError('INTERNAL', `The sandboxed tool says no message: ${why}`)),
      tooLong: (limit: number) =>
        this.#fail(new ArcpError('PAYLOAD_TOO_LARGE', `The sandboxed tool says more than ${limit} bytes at once`)),
    };
    pipe.on('data', (chunk: Uint8Array) => decoder.push(chunk, receiver));
  }

  #take(line: string): void {
    if (this.#hasEnded) return;
    try {
      this.#hear(readToolMessage(line), line.length);
    } catch (error) {
      this.#fail(error);
    }
  }

  #hear(said: ToolMessage, size: number): void {
    if (said.type === 'ready') this.#begin(said.isRestricted);
    else if (!this.#isRunning) throw new ArcpError('INTERNAL', 'The sandboxed tool speaks before it was asked to');
    else if (said.type === 'result') this.#outcome.resolve({ value: said.value });
    else if (said.type === 'error') this.#fail(ArcpError.fromBody(said.error));
    else if (said.type === 'worked') this.#steps.get(said.id)?.(said);
    else if (said.method === 'step') this.#step(said).catch((error) => this.#fail(error));
    else void this.#answer(said, size);
  }

  #begin(isRestricted: boolean): void {
    if (this.#isRunning) throw new ArcpError('INTERNAL', 'The sandboxed tool begins twice');
    if (!isRestricted)
      throw new ArcpError('UNIMPLEMENTED', 'The process of the sandbox is not restricted: the tool was not run');
    this.#isRunning = true;
    const context = Object.fromEntries(CONTEXT.map((name) => [name, this.#context[name]]));
    this.#tell({ type: 'run', module: this.#settings.module, input: this.#input, context });
  }

  /** A request counts until the tool has read the answer. */
  async #answer({ id, method, args }: ToolRequest, size: number): Promise<void> {
    this.#count(1, size);
    const told = () => this.#count(-1, -size);
    try {
      this.#tell({ type: 'answer', id, value: await handleRequest(this.#asked, method, args) }, told);
    } catch (error) {
      this.#tell({ type: 'answer', id, error: asArcpError(error).toBody() }, told);
    }
  }

  /** The runtime knows if the step was done before; else the tool does it. */
  async #step({ id, args: [key] }: ToolRequest): Promise<void> {
    if (this.#steps.has(id) || this.#steps.size >= MOST_STEPS)
      throw new ArcpError('RESOURCE_EXHAUSTED', 'Too many steps are under way', { retryable: false });
    this.#steps.set(id, () => {});
    const told = () => this.#steps.delete(id);
    try {
      if (typeof key !== 'string') throw new ArcpError('INVALID_ARGUMENT', 'A step has a key');
      const value = await this.#context.step(key, (operationKey) => this.#work(id, operationKey));
      this.#tell({ type: 'answer', id, value }, told);
    } catch (error) {
      this.#tell({ type: 'answer', id, error: asArcpError(error).toBody() }, told);
    }
  }

  #work(id: number, operationKey: string): Promise<unknown> {
    return new Promise((resolve, reject) => {
      if (this.#hasEnded) return reject(ENDED);
      this.#steps.set(id, ({ value, error }) => {
        if (error === undefined) resolve(value);
        else reject(ArcpError.fromBody(error));
      });
      this.#tell({ type: 'work', id, operationKey });
    });
  }

  #count(number: number, size: number): void {
    this.#asking += number;
    this.#askingSize += size;
    const { pipe } = this.#sandbox;
    if (this.#asking >= MOST_ASKED || this.#askingSize >= MOST_ASKED_SIZE) pipe.pause();
    else pipe.resume();
  }

  readonly #cancel = (): void => {
    const { reason } = this.#context.signal;
    this.#controller.abort(reason);
    if (!this.#isRunning) {
      this.#fail(reason);
      return;
    }
    this.#tell({ type: 'cancel', error: asArcpError(reason).toBody() });
    const cancelKill = after(this.#settings.killGraceMs, () => this.#fail(reason));
    void this.#outcome.promise.then(cancelKill);
  };

  readonly #late = (): void => {
    const { timeoutMs } = this.#settings;
    this.#fail(new ArcpError('DEADLINE_EXCEEDED', `The sandboxed tool has not ended within ${timeoutMs} ms`));
  };

  #fail(error: unknown): void {
    this.#outcome.resolve({ error });
  }

  #tell(told: RuntimeMessage, taken: () => void = () => {}): void {
    const { pipe } = this.#sandbox;
    if (this.#hasEnded) return;
    try {
      pipe.write(`${JSON.stringify(told)}\n`, taken);
    } catch (cause) {
      this.#fail(new ArcpError('INVALID_ARGUMENT', `What a sandbox is given has no JSON: ${(cause as Error).message}`));
    }
  }
}

const ENDED = new ArcpError('ABORTED', 'The sandboxed tool has ended');

const id = z.number().int().min(0);

const said = z.discriminatedUnion('type', [
  z.object({ type: z.literal('ready'), isRestricted: z.boolean() }),
  z.object({ type: z.literal('ask'), id, method: z.string().max(64), args: z.array(z.unknown()).max(8) }),
  z.object({ type: z.literal('worked'), id, value: z.unknown().optional(), error: z.optional(errorBodySchema) }),
  z.object({ type: z.literal('result'), value: z.unknown().optional() }),
  z.object({ type: z.literal('error'), error: errorBodySchema }),
]);

export type ToolMessage = z.output<typeof said>;
type ToolRequest = Extract<ToolMessage, { type: 'ask' }>;
export type StepResult = Extract<ToolMessage, { type: 'worked' }>;

export type RuntimeMessage =
  | {
      readonly type: 'run';
      readonly module: string;
      readonly input: unknown;
      readonly context: Readonly<Record<string, unknown>>;
    }
  | {
      readonly type: 'answer';
      readonly id: number;
      readonly value?: unknown;
      readonly error?: ErrorBody | undefined;
    }
  | { readonly type: 'work'; readonly id: number; readonly operationKey: string }
  | { readonly type: 'cancel'; readonly error: ErrorBody };

/** More than a message of the protocol, since it is wrapped here. */
const MAX_DEPTH = 72;

function readToolMessage(line: string): ToolMessage {
  const reading = readJson(line, MAX_DEPTH);
  if (!reading.ok && reading.fault === 'depth')
    throw new ArcpError('PAYLOAD_TOO_LARGE', `The sandboxed tool says something too deep: ${reading.message}`);
  const judged = reading.ok ? said.safeParse(reading.value) : undefined;
  if (judged?.success !== true) throw new ArcpError('INTERNAL', 'The sandboxed tool says what is no message');
  return judged.data;
}

const MAX_LINE = 8 * 1024;

/** Logs the output at the pace of the log; what exceeds the limit is read and dropped. */
async function logOutput(
  stream: Readable,
  name: 'stdout' | 'stderr',
  { log }: Pick<JobContext, 'log'>,
  maxBytes: number,
): Promise<void> {
  const decoder = new TextDecoder();
  const level = name === 'stdout' ? 'info' : 'warn';
  let left = maxBytes;
  let isLogging = left > 0;
  let held = '';
  const say = async (line: string): Promise<void> => {
    if (!isLogging || line.trim() === '') return;
    try {
      await log(level, line, { stream: name });
    } catch {
      isLogging = false;
    }
  };
  try {
    for await (const chunk of stream as AsyncIterable<Buffer>) {
      if (!isLogging) continue;
      held += decoder.decode(chunk.subarray(0, left), { stream: true });
      const lines = held.split(/\r?\n/);
      held = lines.pop()!;
      for (const line of lines.flatMap(cut)) await say(line);
      for (; held.length > MAX_LINE; held = held.slice(MAX_LINE)) await say(held.slice(0, MAX_LINE));
      left -= chunk.length;
      if (left >= 0) continue;
      await say(held);
      await say(`(More than ${maxBytes} bytes: what else it prints is not logged)`);
      isLogging = false;
    }
    await say(held + decoder.decode());
  } catch {
    // A broken pipe has ended.
  }
}

function cut(line: string): string[] {
  const pieces: string[] = [];
  for (let from = 0; from === 0 || from < line.length; from += MAX_LINE) pieces.push(line.slice(from, from + MAX_LINE));
  return pieces;
}
