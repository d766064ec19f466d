/** The encoders that come with pegwire, by name. */
import { planOf, type WorkflowPlan } from './define-workflow.js';
import { RuleBasedEncoder } from './rule-based.js';
import { ContractEncoder } from './workflows/contract.js';
import { CSResolutionEncoder } from './workflows/cs-resolution.js';
import { InvoiceEncoder } from './workflows/invoice.js';
import { ITEncoder } from './workflows/it.js';
import { JMLEncoder } from './workflows/jml.js';
import { MonthEndEncoder } from './workflows/month-end.js';
import { PayrollEncoder } from './workflows/payroll.js';
import { SalesEncoder } from './workflows/sales.js';

/** The workflows: the draft's four, then the reference SDK's others. */
export const WORKFLOWS = {
  PayrollEncoder,
  ITEncoder,
  InvoiceEncoder,
  ContractEncoder,
  SalesEncoder,
  JMLEncoder,
  CSResolutionEncoder,
  MonthEndEncoder,
} as const;

/** All encoders. */
export const ENCODERS = { ...WORKFLOWS, RuleBasedEncoder } as const;

/** By short name, as the command line has them. */
export interface Aliases {
  readonly payroll: 'PayrollEncoder';
  readonly it: 'ITEncoder';
  readonly invoice: 'InvoiceEncoder';
  readonly contract: 'ContractEncoder';
  readonly sales: 'SalesEncoder';
  readonly jml: 'JMLEncoder';
  readonly cs_resolution: 'CSResolutionEncoder';
  readonly month_end: 'MonthEndEncoder';
  readonly rule_based: 'RuleBasedEncoder';
}

/** What the encoders consist of, by name and by short name. */
export const PLANS: ReadonlyMap<string, WorkflowPlan> = new Map(
  Object.values(ENCODERS).flatMap((encoder) => {
    const plan = planOf(encoder)!;
    const { name, alias } = plan.definition;
    return [name, alias ?? name].map((each) => [each, plan] as const);
  }),
);
