/** The second part of the demo: agents that work in sessions, with failures between them. */
import { spawnSync } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { EncodeResult } from '../../../src/accp/codec/contract.js';
import { AccpError } from '../../../src/accp/errors.js';
import type { Envelope, Message, MessageInput } from '../../../src/accp/message/message.js';
import { sourceText } from '../../../src/accp/message/read-value.js';
import { parseFrameEnvelope } from '../../../src/accp/parse.js';
import { renderForContext } from '../../../src/accp/render/index.js';
import type { CheckpointResult } from '../../../src/accp/state/state.js';
import { repliesOf } from '../../../src/cli/session/results.js';
import { loadTokenCounter } from '../../../src/tokens/load-counter.js';
import { type Agents, createAgents, type Endpoint, sessionId } from './agents.js';
import { type Delivery, PipelineReporter, type StepEvents } from './pipeline-report.js';
import type { Reporter } from './report.js';
import type { Fail, Meet, Say, Script, State, Step, Stream, Try } from './script.js';
import { ENCODING, reportTable, TokenTally } from './tokens.js';

/**
 * Runs the pipeline, with its sessions in a temporary file.
 *
 * @param commandLine the program and arguments that start the command line of pegwire
 */
export async function runPipeline(script: Script, reporter: Reporter, commandLine: readonly string[]): Promise<void> {
  const folder = await mkdtemp(path.join(tmpdir(), 'pegwire-demo-'));
  const file = path.join(folder, 'sessions.db');
  const counter = await loadTokenCounter(ENCODING);
  let agents: Agents | undefined;
  try {
    agents = await createAgents(script, file, counter);
    const tally = new TokenTally(counter);
    const pipeline = new Pipeline(
      script,
      agents,
      { file, commandLine },
      tally,
      new PipelineReporter(reporter, script.hub),
    );
    await reporter.report(null, [reporter.paint(['bold', 'underline'], `\n${script.title}`)]);
    for (const step of script.steps) await pipeline.step(step);
    await reportTable(tally.totals(), agents.hubEndpoints(), reporter);
  } finally {
    agents?.closeHub();
    await rm(folder, { recursive: true, force: true });
  }
}

/** A message that later steps refer to. */
interface Named {
  readonly msgId: string;
  readonly correlationId: string;
  /** The message as received. */
  readonly message: Message | undefined;
}

type Encoded = Pick<EncodeResult, 'frames' | 'msgId' | 'correlationId' | 'checkpoint'>;

class Pipeline {
  readonly #script: Script;
  readonly #agents: Agents;
  readonly #resuming: Resuming;
  readonly #tally: TokenTally;
  readonly #reporter: PipelineReporter;
  readonly #named = new Map<string, Named>();
  /** The number of the last frame from one agent to another. */
  readonly #last = new Map<string, number>();

  constructor(script: Script, agents: Agents, resuming: Resuming, tally: TokenTally, reporter: PipelineReporter) {
    this.#script = script;
    this.#agents = agents;
    this.#resuming = resuming;
    this.#tally = tally;
    this.#reporter = reporter;
  }

  async step(step: Step): Promise<void> {
    this.#agents.advance(1);
    switch (step.do) {
      case 'title':
        return this.#reporter.title(step.text);
      case 'try':
        return this.#try(step);
      case 'meet':
        return this.#meet(step);
      case 'say':
        return this.#say(step);
      case 'fail':
        return this.#fail(step);
      case 'state':
        return this.#state(step);
      case 'stream':
        return this.#stream(step);
      case 'resume':
        this.#agents.closeHub();
        return this.#reporter.closed(this.#script.hub);
    }
  }

  async #try({ to, message }: Try): Promise<void> {
    const { codec, session } = this.#agents.endpoint(this.#script.hub, to);
    try {
      codec.encode(message, session);
    } catch (thrown) {
      if (!(thrown instanceof AccpError)) throw thrown;
      await this.#reporter.rejected(session.agent, to, thrown);
    }
  }

  async #meet({ with: peer }: Meet): Promise<void> {
    const { hub } = this.#script;
    const [from, to] = [this.#agents.endpoint(hub, peer), this.#agents.endpoint(peer, hub)];
    const { frames } = from.codec.announce(from.session);
    this.#tally.protocol(frames);
    await this.#deliver({ step: 'meet', from: hub, to: peer, frames, checkpoints: [] }, from, to);
  }

  async #say(step: Say): Promise<void> {
    const { from, to, english, message, name, lost = false } = step;
    const input = { ...message, envelope: this.#envelopeFor(step) };
    const encoded = step.resumed ? await this.#sayInProcess(step, input) : this.#encode(from, to, input);
    const { frames, msgId, correlationId } = encoded;
    const composed = { agent: from, ...message, envelope: envelopeOf(frames[0]!) };
    const tokens = await this.#tally.sent({ english, message: composed, frames });
    const events = { step: 'say', from, to, english, frames, tokens, lost, checkpoints: checkpointsOf(from, encoded) };
    const received = await this.#deliver(events, this.#agents.endpoint(from, to), this.#agents.endpoint(to, from));
    if (step.show && received !== undefined) await this.#reporter.context(to, renderForContext(received).text);
    if (name !== undefined) this.#named.set(name, { msgId, correlationId, message: received });
  }

  /** Sends a message from another process, which resumes the session from its file. */
  async #sayInProcess({ from, to }: Say, input: MessageInput): Promise<Encoded> {
    const msgId = this.#agents.newId();
    const session = sessionId(this.#script.session, to);
    const frames = encodeInProcess(
      { ...input, envelope: { ...input.envelope, msg_id: msgId } },
      { ...this.#resuming, session, agent: from, now: this.#agents.now() },
    );
    await this.#agents.openHub();
    await this.#reporter.resumed(this.#last.get(`${from}>${to}`)!);
    return { frames, msgId, correlationId: msgId };
  }

  async #fail({ from, to, english, answers, error }: Fail): Promise<void> {
    const endpoint = this.#agents.endpoint(from, to);
    const { message } = this.#known(answers);
    if (message === undefined) throw new Error(`"${answers}" was not received`);
    const frame = endpoint.codec.fail(message, new Error(error), endpoint.session);
    await this.#deliverMessage({ step: 'fail', from, to, english }, { frames: [frame] });
  }

  async #state({ to, english, values }: State): Promise<void> {
    const { hub } = this.#script;
    const { codec, session } = this.#agents.endpoint(hub, to);
    await this.#deliverMessage({ step: 'state', from: hub, to, english }, codec.syncState(values, session));
  }

  async #stream({ from, to, answers, operation, chunks, order }: Stream): Promise<void> {
    const { correlationId: cid } = this.#known(answers);
    const reader = this.#agents.endpoint(to, from);
    const whole = readStream(reader, cid);
    for (const index of order) {
      const payload = {
        chunk_index: index,
        total_chunks: chunks.length,
        data: chunks[index]!,
        is_final: index === chunks.length - 1,
      };
      const envelope = { correlation_id: cid };
      const encoded = this.#encode(from, to, { intent: 'stream', operation, schema: 'ST', payload, envelope });
      await this.#deliverMessage({ step: 'stream', from, to, english: chunks[index]! }, encoded);
    }
    const { frames } = this.#encode(from, to, { intent: 'end', operation, envelope: { correlation_id: cid } });
    this.#tally.protocol(frames);
    await this.#deliver({ step: 'end', from, to, frames, checkpoints: [] }, this.#agents.endpoint(from, to), reader);
    await this.#reporter.streamed(to, await whole);
  }

  #encode(from: string, to: string, message: MessageInput): EncodeResult {
    const { codec, session } = this.#agents.endpoint(from, to);
    return codec.encode(message, session);
  }

  /** Delivers a message that the codec encoded. */
  async #deliverMessage(
    message: { readonly step: string; readonly from: string; readonly to: string; readonly english: string },
    encoded: Pick<EncodeResult, 'frames' | 'checkpoint'>,
  ): Promise<void> {
    const { from, to, english } = message;
    const { frames } = encoded;
    const [sender, receiver] = [this.#agents.endpoint(from, to), this.#agents.endpoint(to, from)];
    const events = { ...message, frames, checkpoints: checkpointsOf(from, encoded) };
    const received = await this.#deliver(events, sender, receiver, (arrived) =>
      this.#tally.sent({ english, message: arrived, frames }),
    );
    if (received === undefined) throw new Error(`@${to} did not receive the message of @${from}`);
  }

  /**
   * Delivers frames, and reports the outcomes.
   *
   * @returns the last message that the receiver accepted
   */
  async #deliver(
    events: StepEvents,
    from: Endpoint,
    to: Endpoint,
    count?: (message: Message) => Promise<StepEvents['tokens']>,
  ): Promise<Message | undefined> {
    const deliveries = events.lost === true ? [] : deliver(events.frames, from, to);
    this.#last.set(`${from.agent}>${to.agent}`, Number(envelopeOf(events.frames.at(-1)!)['sequence']));
    let received: Message | undefined;
    const checkpoints = [...events.checkpoints];
    for (const delivery of deliveries) {
      if (delivery.isReply) this.#tally.protocol([delivery.frame]);
      const message = messageOf(delivery);
      if (message === undefined) continue;
      if (delivery.to === to) received = message;
      if (!isUpkeep(message)) this.#tally.received(message);
      checkpoints.push(...checkpointsOf(delivery.to.agent, delivery.outcome));
    }
    const tokens = received === undefined ? undefined : await count?.(received);
    await this.#reporter.step({ ...events, ...(tokens === undefined ? {} : { tokens }), checkpoints }, deliveries);
    return received;
  }

  #envelopeFor({ answers, retries }: Say): Partial<Envelope> {
    if (answers !== undefined) {
      const { correlationId, msgId } = this.#known(answers);
      return { correlation_id: correlationId, causation_id: msgId };
    }
    return retries === undefined ? {} : { correlation_id: this.#known(retries).correlationId };
  }

  #known(name: string): Named {
    const named = this.#named.get(name);
    if (named === undefined) throw new Error(`No step has the name "${name}"`);
    return named;
  }
}

async function readStream({ session }: Endpoint, cid: string): Promise<string> {
  let text = '';
  for await (const { data } of session.stream(cid)) text += String(data);
  return text;
}

function messageOf({ outcome }: Delivery): Message | undefined {
  return outcome.outcome === 'message' || outcome.outcome === 'pending' ? outcome.message : undefined;
}

/** Reports whether a message only maintains its session, so that no model reads it. */
function isUpkeep({ intent, operation, payload }: Message): boolean {
  if (intent === 'end' || (intent === 'sync' && operation !== 'state')) return true;
  return intent === 'fail' && payload['code'] === 'E3003';
}

/** Returns the checkpoints of a result. They are synchronous, since the summarizer calls no model. */
function checkpointsOf(agent: string, result: object): StepEvents['checkpoints'] {
  const { checkpoint } = result as { readonly checkpoint?: CheckpointResult };
  return checkpoint === undefined ? [] : [{ agent, checkpoint }];
}

/** Delivers frames, then their replies, until there are none. */
function deliver(frames: readonly string[], from: Endpoint, to: Endpoint): readonly Delivery[] {
  const deliveries: Delivery[] = [];
  const queue = frames.map((frame) => ({ frame, from, to, isReply: false }));
  for (let next = queue.shift(); next !== undefined; next = queue.shift()) {
    const outcome = next.to.codec.decode(next.frame, next.to.session);
    deliveries.push({ ...next, outcome });
    for (const frame of repliesOf(outcome)) queue.push({ frame, from: next.to, to: next.from, isReply: true });
  }
  return deliveries;
}

const FIELD_NAMES: Readonly<Record<string, string>> = {
  mid: 'msg_id',
  seq: 'sequence',
  ts: 'timestamp',
  cid: 'correlation_id',
  aid: 'causation_id',
  sid: 'session_id',
};

/** The envelope that a frame carries, under the full names of its fields. */
function envelopeOf(frame: string): Readonly<Record<string, string | number>> {
  const envelope: Record<string, string | number> = {};
  for (const { key, value } of parseFrameEnvelope(frame).metadata ?? []) {
    const isNumber = key === 'seq' || key === 'ts' || key === 'ttl';
    const text = sourceText(value) ?? '';
    envelope[FIELD_NAMES[key] ?? key] = isNumber ? Number(text) : text;
  }
  return envelope;
}

/** Another process that resumes a session. */
interface Resuming {
  /** The file with the session. */
  readonly file: string;
  readonly commandLine: readonly string[];
}

/** Encodes a message with the command line in another process, which resumes the session from its file. */
function encodeInProcess(
  message: MessageInput,
  call: Resuming & { readonly session: string; readonly agent: string; readonly now: number },
): readonly string[] {
  const [program, ...args] = call.commandLine;
  const session = ['--session', call.file, '--id', call.session, '--agent', call.agent, '--sequence', 'sender'];
  const { status, stdout, stderr } = spawnSync(
    program!,
    [...args, 'encode', 'accp', ...session, '--now', new Date(call.now * 1000).toISOString(), '--encoding', ENCODING],
    { input: JSON.stringify(message), encoding: 'utf8' },
  );
  if (status !== 0) throw new Error(`The other process failed: ${stderr}`);
  return stdout.split('\n').filter((line) => line !== '');
}
