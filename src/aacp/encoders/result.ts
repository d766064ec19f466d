import type { LintDiagnostic } from '../lint/lint.js';
import type { PacketDiagnostic } from '../validate.js';
import type { Normalisation } from './normalise.js';

/** One input that is not on the wire as it was given. */
export interface EncodeLoss {
  /** The input: `supplier`, `fields[1]`. */
  readonly input: string;
  /** The key of the field that it went to, `task` or `domain` for the two without a key; `null` where it went nowhere. */
  readonly key: string | null;
  /**
   * The declared normalisation that changed it. `transformed`: by the schema of a user's workflow. `referenced`: behind a
   * pointer. `known-to-receiver`: the receiver has it. `not-emitted`: the reference SDK leaves it out (`compat: 'sdk'`
   * only).
   */
  readonly kind: Normalisation | 'rounded' | 'transformed' | 'referenced' | 'known-to-receiver' | 'not-emitted';
  /** The text before and after; `to` is `null` where nothing is on the wire. */
  readonly from: string;
  readonly to: string | null;
}

/** Advice on what an input holds. */
export interface InputDiagnostic extends LintDiagnostic {
  /** The input: `username`, `to[1]`; `null` for what the workflow, or the option `pointer`, wrote. */
  readonly input: string | null;
}

/** Tokens of a packet. */
export interface PacketTokens {
  readonly packet: number;
  /** `false` for an estimate. */
  readonly exact: boolean;
  /** The vocabulary: `o200k_base`, ..., or `estimate`. */
  readonly encoding: string;
}

/** Personal data that stands behind a pointer of the packet: whoever gets the packet must be able to resolve it. */
export interface ReferencedData {
  /** The value of `data_ptr`. */
  readonly pointer: string;
  /** The inputs behind it. */
  readonly data: Readonly<Record<string, string>>;
}

/** One packet, with what there is to say about it. */
export interface StepResult {
  /** The text of the packet. */
  readonly packet: string;
  readonly task: string;
  readonly domain: string;
  /** Counted when it is first read. */
  readonly tokens: PacketTokens;
  /** Empty when the packet says all that was given, letter by letter. */
  readonly losses: readonly EncodeLoss[];
  /** The validator's warnings about the packet; with `compat: 'sdk'` its errors, too. */
  readonly diagnostics: readonly PacketDiagnostic[];
  /**
   * Warnings of `lintPacket`: inputs that look sensitive (section 15), invisible characters, malformed periods. Computed
   * when first read.
   */
  readonly lint: readonly InputDiagnostic[];
  /** Data that was kept out of the packet (section 15); `null` when there is none. */
  readonly referenced: ReferencedData | null;
  /** What the encoding cost, in US dollars. */
  readonly cost: 0;
  /** The step that made it: `PayrollEncoder.fetch_employees`. */
  readonly step: string;
}
