/** Reports on the steps of the pipeline. */
import type { DecodeOutcome } from '../../../src/accp/codec/contract.js';
import type { AccpError } from '../../../src/accp/errors.js';
import type { CheckpointResult } from '../../../src/accp/state/state.js';
import type { Endpoint } from './agents.js';
import { heading, highlight, indented, type Reporter } from './report.js';

/** A delivered frame. */
export interface Delivery {
  readonly frame: string;
  readonly from: Endpoint;
  readonly to: Endpoint;
  readonly outcome: DecodeOutcome;
  /** `true` if the protocol sent it in reply to another frame. */
  readonly isReply: boolean;
}

/** A step that sent frames. */
export interface StepEvents {
  readonly step: string;
  readonly from: string;
  readonly to: string;
  readonly english?: string;
  readonly frames: readonly string[];
  readonly tokens?: { readonly alone: number; readonly whole: number; readonly english: number } | undefined;
  readonly lost?: boolean;
  readonly checkpoints: readonly { readonly agent: string; readonly checkpoint: CheckpointResult }[];
}

export class PipelineReporter {
  readonly #reporter: Reporter;
  readonly #hub: string;

  /** @param hub the agent whose checkpoints are shown with their summaries; those of its peers have the same */
  constructor(reporter: Reporter, hub: string) {
    this.#reporter = reporter;
    this.#hub = hub;
  }

  title(text: string): Promise<void> {
    return this.#reporter.report({ step: 'title', text }, [heading(text, this.#reporter.paint)]);
  }

  rejected(from: string, to: string, error: AccpError): Promise<void> {
    const { paint } = this.#reporter;
    return this.#reporter.report({ step: 'rejected', from, to, error }, [
      this.#arrow(from, to),
      `    ${paint('red', `not sent: ${error.code} ${error.codeName}`)} ${error.message}`,
    ]);
  }

  closed(agent: string): Promise<void> {
    return this.#reporter.report({ step: 'closed', agent }, [
      `  @${agent} closes its sessions; only their file remains.`,
    ]);
  }

  /** @param last the number of the last frame sent before */
  resumed(last: number): Promise<void> {
    return this.#reporter.report({ step: 'resumed', last }, [
      `  Another process resumes the session from the file, after frame ${last}:\n`,
    ]);
  }

  context(agent: string, text: string): Promise<void> {
    const { paint } = this.#reporter;
    return this.#reporter.report({ step: 'context', agent, text }, [
      `    ${paint('dim', `text for the model of @${agent}:`)}`,
      indented(text),
    ]);
  }

  streamed(agent: string, text: string): Promise<void> {
    const { paint } = this.#reporter;
    return this.#reporter.report({ step: 'streamed', agent, text }, [
      `    ${paint('dim', `@${agent} reads the stream in order:`)} ${text}`,
    ]);
  }

  async step(events: StepEvents, deliveries: readonly Delivery[]): Promise<void> {
    const { paint } = this.#reporter;
    const { from, to, english, frames, tokens, lost = false, checkpoints } = events;
    const lines = [this.#arrow(from, to)];
    if (english !== undefined) lines.push(`    ${paint('dim', `"${english}"`)}`);
    for (const frame of frames) lines.push(`    ${highlight('accp', frame, paint)}`);
    if (tokens !== undefined) {
      const { alone, whole, english: inEnglish } = tokens;
      lines.push(`    ${paint('dim', `${whole} tokens, ${alone} without envelope, ${inEnglish} in English`)}`);
    }
    if (lost) lines.push(`    ${paint('yellow', 'lost in transit')}`);
    for (const delivery of deliveries) lines.push(...this.#deliveryLines(delivery));
    for (const { agent, checkpoint } of checkpoints) lines.push(...this.#checkpointLines(agent, checkpoint));
    await this.#reporter.report({ ...events, deliveries: deliveries.map(deliveryRecord) }, lines);
  }

  #arrow(from: string, to: string): string {
    return `  ${this.#reporter.paint('bold', `${from} -> ${to}`)}`;
  }

  #deliveryLines({ frame, from, to, outcome, isReply }: Delivery): readonly string[] {
    const { paint } = this.#reporter;
    const lines = isReply ? [`${this.#arrow(from.agent, to.agent)} ${highlight('accp', frame, paint)}`] : [];
    if (outcome.outcome === 'rejected') {
      const { code, codeName, message } = outcome.error;
      lines.push(`    ${paint('red', `rejected by @${to.agent}: ${code} ${codeName}`)} ${message}`);
    }
    if (outcome.outcome === 'pending' && outcome.part === 'sequence') {
      lines.push(`    ${paint('dim', `@${to.agent} waits for the other parts of the message`)}`);
    }
    return lines;
  }

  #checkpointLines(agent: string, checkpoint: CheckpointResult): readonly string[] {
    const { id, trigger, tokensBefore, tokensAfter, warmTokens, summary } = checkpoint;
    const { paint } = this.#reporter;
    const line =
      `    ${paint('cyan', `checkpoint ${id} of @${agent}`)} (${trigger}): hot state ${tokensBefore} -> ` +
      `${tokensAfter} tokens, warm state ${warmTokens} tokens`;
    return agent === this.#hub ? [line, `      ${paint('dim', summary)}`] : [line];
  }
}

function deliveryRecord({ frame, from, to, outcome, isReply }: Delivery): object {
  const more = outcome.outcome === 'rejected' ? { error: outcome.error } : {};
  return { frame, from: from.agent, to: to.agent, isReply, outcome: outcome.outcome, ...more };
}
