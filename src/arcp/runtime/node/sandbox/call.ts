// biome-ignore-all lint/correctness/noNodejsModules: processes need Node
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

/** Limits of pending requests, at which the pipe is paused. */
const MAX_REQUESTS = 64;
const MAX_REQUESTS_SIZE = 4 * 1024 * 1024;
/** The maximum number of running steps. They do not pause the pipe, since their results must be read. */
const MAX_STEPS = 256;

export async function runCall(settings: SandboxSettings, input: unknown, context: JobContext): Promise<unknown> {
  const folder = await mkdtemp(path.join(tmpdir(), 'pegwire-sandbox-'));
  try {
    context.signal.throwIfAborted();
    return await new SandboxCall(settings, context, folder).run(input);
  } finally {
    // The tool may prevent the deletion, which does not affect the outcome.
    await rm(folder, { recursive: true, force: true, maxRetries: 3 }).catch(() => {});
  }
}

/** The members of the context that the process receives. */
const CONTEXT = [
  ...(['jobId', 'commandId', 'sessionId', 'principal', 'trust', 'attempt', 'traceId', 'spanId'] as const),
  ...(['restored', 'operationKey', 'traceparent'] as const),
];

class SandboxCall {
  readonly #settings: SandboxSettings;
  readonly #context: JobContext;
  readonly #sandbox: Sandbox;
  readonly #scope: ToolScope;
  /** Aborts when the call ends, for any reason. */
  readonly #controller = new AbortController();
  readonly #steps = new Map<number, (worked: StepResult) => void>();
  #requests = 0;
  #requestsSize = 0;
  #input: unknown;
  #isRunning = false;
  #hasEnded = false;
  readonly #outcome = deferred<{ readonly value: unknown } | { readonly error: unknown }>();

  constructor(settings: SandboxSettings, context: JobContext, folder: string) {
    this.#settings = settings;
    this.#context = context;
    this.#scope = toolScope({ ...context, signal: this.#controller.signal }, settings.broker, settings.tools);
    // Last, since a process that was started must be killed if this fails.
    this.#sandbox = startSandbox(settings, folder);
  }

  async run(input: unknown): Promise<unknown> {
    this.#input = input;
    const { signal } = this.#context;
    const { timeoutMs, maxOutputBytes } = this.#settings;
    const { child, pipe, exited, closed, kill } = this.#sandbox;
    signal.addEventListener('abort', this.#cancel, { once: true });
    const cancelTimeout = after(timeoutMs ?? Number.POSITIVE_INFINITY, this.#onTimeout);
    const printed = [
      logOutput(child.stdout, 'stdout', this.#context, maxOutputBytes),
      logOutput(child.stderr, 'stderr', this.#context, maxOutputBytes),
    ];
    this.#listen();
    // The result may be among the last messages.
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
      text: (line: string) => this.#readLine(line),
      invalid: (why: string) =>
        this.#fail(new ArcpError('INTERNAL', `The sandboxed tool sent an invalid message: ${why}`)),
      tooLong: (limit: number) =>
        this.#fail(new ArcpError('PAYLOAD_TOO_LARGE', `The sandboxed tool sent a message longer than ${limit} bytes`)),
    };
    pipe.on('data', (chunk: Uint8Array) => decoder.push(chunk, receiver));
  }

  #readLine(line: string): void {
    if (this.#hasEnded) return;
    try {
      this.#handle(readToolMessage(line), line.length);
    } catch (error) {
      this.#fail(error);
    }
  }

  #handle(message: ToolMessage, size: number): void {
    if (message.type === 'ready') this.#start(message.isRestricted);
    else if (!this.#isRunning)
      throw new ArcpError('INTERNAL', 'The sandboxed tool sent a message before it was started');
    else if (message.type === 'result') this.#outcome.resolve({ value: message.value });
    else if (message.type === 'error') this.#fail(ArcpError.fromBody(message.error));
    else if (message.type === 'worked') this.#steps.get(message.id)?.(message);
    else if (message.method === 'step') this.#step(message).catch((error) => this.#fail(error));
    else void this.#answer(message, size);
  }

  #start(isRestricted: boolean): void {
    if (this.#isRunning) throw new ArcpError('INTERNAL', 'The sandboxed tool reported twice that it is ready');
    if (!isRestricted)
      throw new ArcpError('UNIMPLEMENTED', 'The process of the sandbox is not restricted; the tool was not loaded');
    this.#isRunning = true;
    const context = Object.fromEntries(CONTEXT.map((name) => [name, this.#context[name]]));
    this.#send({ type: 'run', module: this.#settings.module, input: this.#input, context });
  }

  /** Answers a request, which counts as pending until the tool has read the answer. */
  async #answer({ id, method, args }: ToolRequest, size: number): Promise<void> {
    this.#count(1, size);
    const onRead = () => this.#count(-1, -size);
    try {
      this.#send({ type: 'answer', id, value: await handleRequest(this.#scope, method, args) }, onRead);
    } catch (error) {
      this.#send({ type: 'answer', id, error: asArcpError(error).toBody() }, onRead);
    }
  }

  /** Executes a step. Unless its result is stored, the tool does the work. */
  async #step({ id, args: [key] }: ToolRequest): Promise<void> {
    if (this.#steps.has(id) || this.#steps.size >= MAX_STEPS)
      throw new ArcpError('RESOURCE_EXHAUSTED', `More than ${MAX_STEPS} steps run at once`, { retryable: false });
    this.#steps.set(id, () => {});
    const onRead = () => this.#steps.delete(id);
    try {
      if (typeof key !== 'string') throw new ArcpError('INVALID_ARGUMENT', 'The key of a step must be a string');
      const value = await this.#context.step(key, (operationKey) => this.#work(id, operationKey));
      this.#send({ type: 'answer', id, value }, onRead);
    } catch (error) {
      this.#send({ type: 'answer', id, error: asArcpError(error).toBody() }, onRead);
    }
  }

  #work(id: number, operationKey: string): Promise<unknown> {
    return new Promise((resolve, reject) => {
      if (this.#hasEnded) return reject(ENDED);
      this.#steps.set(id, ({ value, error }) => {
        if (error === undefined) resolve(value);
        else reject(ArcpError.fromBody(error));
      });
      this.#send({ type: 'work', id, operationKey });
    });
  }

  #count(number: number, size: number): void {
    this.#requests += number;
    this.#requestsSize += size;
    const { pipe } = this.#sandbox;
    if (this.#requests >= MAX_REQUESTS || this.#requestsSize >= MAX_REQUESTS_SIZE) pipe.pause();
    else pipe.resume();
  }

  readonly #cancel = (): void => {
    const { reason } = this.#context.signal;
    this.#controller.abort(reason);
    if (!this.#isRunning) {
      this.#fail(reason);
      return;
    }
    this.#send({ type: 'cancel', error: asArcpError(reason).toBody() });
    const cancelKill = after(this.#settings.killGraceMs, () => this.#fail(reason));
    void this.#outcome.promise.then(cancelKill);
  };

  readonly #onTimeout = (): void => {
    const { timeoutMs } = this.#settings;
    this.#fail(new ArcpError('DEADLINE_EXCEEDED', `The sandboxed tool did not end within ${timeoutMs} ms`));
  };

  #fail(error: unknown): void {
    this.#outcome.resolve({ error });
  }

  #send(message: RuntimeMessage, onRead: () => void = () => {}): void {
    const { pipe } = this.#sandbox;
    if (this.#hasEnded) return;
    try {
      pipe.write(`${JSON.stringify(message)}\n`, onRead);
    } catch (cause) {
      this.#fail(
        new ArcpError(
          'INVALID_ARGUMENT',
          `The input of the sandbox cannot be sent as JSON: ${(cause as Error).message}`,
        ),
      );
    }
  }
}

const ENDED = new ArcpError('ABORTED', 'The sandboxed tool has ended');

const id = z.number().int().min(0);

const toolMessageSchema = z.discriminatedUnion('type', [
  z.object({ type: z.literal('ready'), isRestricted: z.boolean() }),
  z.object({ type: z.literal('ask'), id, method: z.string().max(64), args: z.array(z.unknown()).max(8) }),
  z.object({ type: z.literal('worked'), id, value: z.unknown().optional(), error: z.optional(errorBodySchema) }),
  z.object({ type: z.literal('result'), value: z.unknown().optional() }),
  z.object({ type: z.literal('error'), error: errorBodySchema }),
]);

export type ToolMessage = z.output<typeof toolMessageSchema>;
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

/** More than the limit of a message of the protocol, which is wrapped here. */
const MAX_DEPTH = 72;

function readToolMessage(line: string): ToolMessage {
  const reading = readJson(line, MAX_DEPTH);
  if (!reading.ok && reading.fault === 'depth')
    throw new ArcpError(
      'PAYLOAD_TOO_LARGE',
      `The sandboxed tool sent a message that is nested too deeply: ${reading.message}`,
    );
  const parsed = reading.ok ? toolMessageSchema.safeParse(reading.value) : undefined;
  if (parsed?.success !== true) throw new ArcpError('INTERNAL', 'The sandboxed tool sent an invalid message');
  return parsed.data;
}

const MAX_LINE = 8 * 1024;

/** Logs the output at the rate of the log. Output beyond the limit is read and dropped. */
async function logOutput(
  stream: Readable,
  name: 'stdout' | 'stderr',
  { log }: Pick<JobContext, 'log'>,
  maxBytes: number,
): Promise<void> {
  const decoder = new TextDecoder();
  const level = name === 'stdout' ? 'info' : 'warn';
  let remaining = maxBytes;
  let isLogging = remaining > 0;
  let pending = '';
  const logLine = async (line: string): Promise<void> => {
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
      pending += decoder.decode(chunk.subarray(0, remaining), { stream: true });
      const lines = pending.split(/\r?\n/);
      pending = lines.pop()!;
      for (const line of lines.flatMap(cut)) await logLine(line);
      for (; pending.length > MAX_LINE; pending = pending.slice(MAX_LINE)) await logLine(pending.slice(0, MAX_LINE));
      remaining -= chunk.length;
      if (remaining >= 0) continue;
      await logLine(pending);
      await logLine(`(output truncated after ${maxBytes} bytes)`);
      isLogging = false;
    }
    await logLine(pending + decoder.decode());
  } catch {
    // A broken pipe is the end of the output.
  }
}

function cut(line: string): string[] {
  const pieces: string[] = [];
  for (let from = 0; from === 0 || from < line.length; from += MAX_LINE) pieces.push(line.slice(from, from + MAX_LINE));
  return pieces;
}
