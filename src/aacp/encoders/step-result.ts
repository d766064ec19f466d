/** A result whose losses, tokens and findings are worked out when they are first read. */
import type { TokenCounter } from '../../tokens/counter.js';
import { installedCounter } from '../../tokens/installed-counter.js';
import { type PacketDiagnostic, validatePacket } from '../validate.js';
import { lintRun } from './lint-step.js';
import { lossesOf, type Run } from './losses.js';
import type { EncodeLoss, InputDiagnostic, PacketTokens, ReferencedData, StepResult } from './result.js';

/** What is worked out later, and from what. */
interface Later {
  readonly counter: TokenCounter | undefined;
  readonly run: Run;
  losses: readonly EncodeLoss[] | null;
  tokens: PacketTokens | null;
  diagnostics: readonly PacketDiagnostic[] | null;
  lint: readonly InputDiagnostic[] | null;
}

/** A class, since an object with getters of its own takes longer to make than all of the packet. */
export class EncodedStep implements StepResult {
  readonly packet: string;
  readonly task: string;
  readonly domain: string;
  readonly referenced: ReferencedData | null;
  readonly cost = 0;
  readonly step: string;
  readonly #later: Later;

  /** @param run what losses and findings are told from */
  constructor(
    packet: string,
    task: string,
    domain: string,
    referenced: ReferencedData | null,
    step: string,
    counter: TokenCounter | undefined,
    run: Run,
  ) {
    this.packet = packet;
    this.task = task;
    this.domain = domain;
    this.referenced = referenced;
    this.step = step;
    // One private member: each takes its time.
    this.#later = { counter, run, losses: null, tokens: null, diagnostics: null, lint: null };
  }

  get losses(): readonly EncodeLoss[] {
    const later = this.#later;
    later.losses ??= later.run.lossless ? [] : lossesOf(later.run);
    return later.losses;
  }

  get tokens(): PacketTokens {
    const later = this.#later;
    if (later.tokens === null) {
      const { count, exact, encoding } = later.counter ?? installedCounter();
      later.tokens = { packet: count(this.packet), exact, encoding };
    }
    return later.tokens;
  }

  get diagnostics(): readonly PacketDiagnostic[] {
    const later = this.#later;
    if (later.diagnostics === null) {
      const { errors, warnings } = validatePacket(this.packet);
      later.diagnostics = [...errors, ...warnings];
    }
    return later.diagnostics;
  }

  get lint(): readonly InputDiagnostic[] {
    const later = this.#later;
    later.lint ??= lintRun(this.packet, later.run);
    return later.lint;
  }

  /** The result as data. */
  toJSON(): StepResult {
    const { packet, task, domain, tokens, losses, diagnostics, lint, referenced, cost, step } = this;
    return { packet, task, domain, tokens, losses, diagnostics, lint, referenced, cost, step };
  }
}
