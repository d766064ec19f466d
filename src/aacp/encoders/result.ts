import type { LintDiagnostic } from '../lint/lint.js';
import type { PacketDiagnostic } from '../validate.js';
import type { Normalisation } from './normalise.js';

/** An input that is not written as it was given. */
export interface EncodeLoss {
  /** The name of the input: `supplier`, `fields[1]`. */
  readonly input: string;
  /** The key of its field, or `task` or `domain`; `null` if it is not in the packet. */
  readonly key: string | null;
  /**
   * The kind of the loss: the normalisation that changed it; `rounded`; `transformed` by the schema of your own workflow; `referenced` by a
   * pointer; `known-to-receiver`; or `not-emitted`, since the reference SDK omits it (`compat: 'sdk'` only).
   */
  readonly kind: Normalisation | 'rounded' | 'transformed' | 'referenced' | 'known-to-receiver' | 'not-emitted';
  /** The text as given. */
  readonly from: string;
  /** The text in the packet; `null` if there is none. */
  readonly to: string | null;
}

/** A finding of the linter about an input. */
export interface InputDiagnostic extends LintDiagnostic {
  /** The name of the input: `username`, `to[1]`; `null` for text of the workflow or of the option `pointer`. */
  readonly input: string | null;
}

/** The tokens of a packet. */
export interface PacketTokens {
  /** The number of tokens. */
  readonly packet: number;
  /** `false` if the number is an estimate. */
  readonly exact: boolean;
  /** The token encoding: `o200k_base`, ..., or `estimate`. */
  readonly encoding: string;
}

/** Personal data behind a pointer of the packet. The receiver must be able to resolve the pointer. */
export interface ReferencedData {
  /** The value of `data_ptr`. */
  readonly pointer: string;
  /** The personal inputs by name. */
  readonly data: Readonly<Record<string, string>>;
}

/** A packet, with information about its encoding. */
export interface StepResult {
  /** The text of the packet. */
  readonly packet: string;
  /** The TASK of the packet. */
  readonly task: string;
  /** The DOM of the packet. */
  readonly domain: string;
  /** The tokens of the packet. Counted on first access. */
  readonly tokens: PacketTokens;
  /** The inputs that are not written exactly as given. Empty if there are none. */
  readonly losses: readonly EncodeLoss[];
  /** The validator's warnings about the packet; with `compat: 'sdk'` also its errors. */
  readonly diagnostics: readonly PacketDiagnostic[];
  /**
   * Warnings of `lintPacket`: inputs that look sensitive (section 15), invisible characters, malformed periods. Computed on first access.
   */
  readonly lint: readonly InputDiagnostic[];
  /** The personal data that is not in the packet (section 15); `null` if there is none. */
  readonly referenced: ReferencedData | null;
  /** The cost of the encoding in US dollars: 0, since no model is called. */
  readonly cost: 0;
  /** The step that made the packet: `PayrollEncoder.fetch_employees`. */
  readonly step: string;
}
