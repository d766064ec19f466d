/** Encodes packets without a model (draft-mackay-aacp-01, section 6.1). Public as `pegwire/aacp/encoders`. */
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
export type { Receiver } from '../build/packet.js';
export { type LintCode, type LintDiagnostic, type LintOptions, lintPacket } from '../lint/lint.js';
export type { PacketDiagnostic } from '../validate.js';
export type { EncodeArgs, EncodeResult, EncoderName, MethodName } from './catalogue.js';
export {
  describeWorkflow,
  encodeStep,
  type InputInfo,
  listWorkflows,
  type MethodExample,
  type MethodInfo,
  type WorkflowInfo,
} from './catalogue.js';
export { defineWorkflow } from './define-workflow.js';
export type {
  DefaultValue,
  EncodeOptions,
  FieldDefinition,
  FieldOptions,
  InputDefinition,
  ItemDefinition,
  Priority,
  SequenceArgs,
  SequenceDefinition,
  StepArgs,
  StepDefinition,
  Template,
  Workflow,
  WorkflowDefinition,
} from './definition.js';
export type { Normalisation } from './normalise.js';
export type { EncodeLoss, InputDiagnostic, PacketTokens, ReferencedData, StepResult } from './result.js';
export { type RawArgs, type RawEncoder, RuleBasedEncoder } from './rule-based.js';
export { ContractEncoder } from './workflows/contract.js';
export { CSResolutionEncoder } from './workflows/cs-resolution.js';
export { InvoiceEncoder } from './workflows/invoice.js';
export { ITEncoder } from './workflows/it.js';
export { JMLEncoder } from './workflows/jml.js';
export { MonthEndEncoder } from './workflows/month-end.js';
export { PayrollEncoder } from './workflows/payroll.js';
export { SalesEncoder } from './workflows/sales.js';
