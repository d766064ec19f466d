/**
 * Packets without a model (draft-mackay-aacp-01, section 6.1): built safely from fields, or by the encoders of workflows. Public
 * as `pegwire/aacp/encoders`.
 */
export { type ErrorJson, PegwireError } from '../../text/errors.js';
export type { TokenCounter } from '../../tokens/counter.js';
export {
  aacp,
  type Domain,
  type DraftFields,
  type EncodeCode,
  EncodeError,
  type FieldsOf,
  type FieldValue,
  fromObject,
  type Interpolation,
  type PacketInput,
  type PacketObject,
  type PacketOptions,
  packet,
  packetHash,
  samePacket,
  type Task,
  toObject,
  type Upgrade,
  type UpgradeCode,
  type UpgradeNote,
  upgradePacket,
} from '../build/index.js';
export { type LintCode, type LintDiagnostic, type LintOptions, lintPacket } from '../lint/index.js';
export type { PacketDiagnostic } from '../validate.js';
export {
  describeWorkflow,
  type InputInfo,
  listWorkflows,
  type MethodExample,
  type MethodInfo,
  type WorkflowInfo,
} from './catalogue.js';
export { defineWorkflow } from './define-workflow.js';
export type {
  DefaultValue,
  FieldDefinition,
  FieldOptions,
  InputDefinition,
  ItemDefinition,
  SequenceDefinition,
  StepDefinition,
  Template,
  WorkflowDefinition,
} from './definition.js';
export type { EncodeArgs, EncodeResult, EncoderName, MethodName } from './encode-step.js';
export { encodeStep } from './encode-step.js';
export type { Normalisation } from './normalise.js';
export type { EncodeOptions } from './options.js';
export type { EncodeLoss, InputDiagnostic, PacketTokens, Receiver, ReferencedData, StepResult } from './result.js';
export { type RawArgs, type RawEncoder, RuleBasedEncoder } from './rule-based.js';
export type { Priority, SequenceArgs, StepArgs, Workflow } from './typing.js';
export { ContractEncoder } from './workflows/contract.js';
export { CSResolutionEncoder } from './workflows/cs-resolution.js';
export { InvoiceEncoder } from './workflows/invoice.js';
export { ITEncoder } from './workflows/it.js';
export { JMLEncoder } from './workflows/jml.js';
export { MonthEndEncoder } from './workflows/month-end.js';
export { PayrollEncoder } from './workflows/payroll.js';
export { SalesEncoder } from './workflows/sales.js';
