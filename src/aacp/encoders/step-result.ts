/** A result whose losses, tokens and findings are worked out when they are first read. */
import type { TokenCounter } from '../../tokens/counter.js';
import { installedCounter } from '../../tokens/installed-counter.js';
import { type PacketDiagnostic, validatePacket } from '../validate.js';
import { lossesOf, type Run } from './losses.js';
import type { EncodeLoss, PacketTokens, ReferencedData, StepResult } from './result.js';

/** What is worked out later, and from what. */
interface Later {
  readonly counter: TokenCounter | undefined;
  /** What losses are found from; `null` for none. */
  readonly run: Run | null;
  losses?: readonly EncodeLoss[];
  tokens?: PacketTokens;
  diagnostics?: readonly PacketDiagnostic[];
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

  constructor(
    packet: string,
    task: string,
    domain: string,
    referenced: ReferencedData | null,
    step: string,
    later: Later,
  ) {
    this.packet = packet;
    this.task = task;
    this.domain = domain;
    this.referenced = referenced;
    this.step = step;
    this.#later = later;
  }

  get losses(): readonly EncodeLoss[] {
    const { run } = this.#later;
    this.#later.losses ??= run === null ? [] : lossesOf(run);
    return this.#later.losses;
  }

  get tokens(): PacketTokens {
    if (this.#later.tokens === undefined) {
      const { count, exact, encoding } = this.#later.counter ?? installedCounter();
      this.#later.tokens = { packet: count(this.packet), exact, encoding };
    }
    return this.#later.tokens;
  }

  get diagnostics(): readonly PacketDiagnostic[] {
    if (this.#later.diagnostics === undefined) {
      const { errors, warnings } = validatePacket(this.packet);
      this.#later.diagnostics = [...errors, ...warnings];
    }
    return this.#later.diagnostics;
  }

  /** The result as data. */
  toJSON(): StepResult {
    const { packet, task, domain, tokens, losses, diagnostics, referenced, cost, step } = this;
    return { packet, task, domain, tokens, losses, diagnostics, referenced, cost, step };
  }
}
