/** What loading a library has to say about single rules. */
import type { Severity } from '../../text/diagnostic.js';
import type { ValidationCode } from '../codes.js';

/**
 * The validator's codes stand for what it says about the rule's packet with its slots filled. Further:
 * - `not-a-rule`: a member is missing, or of the wrong kind.
 * - `duplicate-id`: an earlier rule has it.
 * - `task-mismatch`, `dom-mismatch`: the packet, or what the step makes, is not what the rule says.
 * - `long-packet`: more than 200 characters (a warning).
 * - `bad-slot`: no slot, of two kinds, twice in a phrase, or an amount that is not in its two parts.
 * - `unfilled-slot`: a phrase does not name a slot of the packet or of an input, or there is no phrase at all.
 * - `unused-slot`: what a phrase names would not be in the packet.
 * - `bare-phrase`: hardly any words but slots; it would match anything.
 * - `same-phrase`: an earlier rule of the domain has it (a warning).
 * - `bad-step`: there is no such step, it refuses the inputs, or it makes several packets.
 */
export type RuleReportCode =
  | ValidationCode
  | 'not-a-rule'
  | 'duplicate-id'
  | 'task-mismatch'
  | 'dom-mismatch'
  | 'long-packet'
  | 'bad-slot'
  | 'unfilled-slot'
  | 'unused-slot'
  | 'bare-phrase'
  | 'same-phrase'
  | 'bad-step';

/** One finding. A rule with an error is left out; warnings stop nothing. */
export interface RuleReport {
  /** Where the rule stands in the list, from 0. */
  readonly index: number;
  /** `null` where it has none. */
  readonly id: string | null;
  readonly code: RuleReportCode;
  readonly severity: Severity;
  /** One or more sentences. */
  readonly message: string;
}

/** Takes a finding about the rule that is being checked. */
export type Tell = (code: RuleReportCode, message: string, severity?: Severity) => void;
