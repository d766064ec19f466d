/** `--workflow payroll.fetch_employees`: the step that it names, and its inputs as options. */
import { type InputInfo, listWorkflows, type MethodInfo, type WorkflowInfo } from '../../../aacp/encoders/index.js';
import { WORKFLOW_OPTIONS } from '../../aacp/workflow-options.js';
import { didYouMean, type KnownOptions, type OptionSpec, UsageError } from '../../options/command.js';

/** A step or a sequence of a workflow. */
export interface NamedMethod {
  /** `PayrollEncoder` */
  readonly encoder: string;
  readonly method: MethodInfo;
  /** What it is called here: `payroll.fetch_employees`. */
  readonly title: string;
}

/**
 * A workflow by its name or its short name, in any case of letters, with hyphens for underscores.
 *
 * @throws UsageError when there is none
 */
export function findWorkflow(name: string): WorkflowInfo {
  const all = listWorkflows();
  const found = all.find(({ encoder, alias }) => [encoder, alias].some((one) => one !== null && isSame(one, name)));
  if (found !== undefined) return found;
  const names = all.map(shortName);
  throw new UsageError(`There is no workflow "${name}"${didYouMean(name, names) || `; there are ${names.join(', ')}`}`);
}

/**
 * A step or a sequence, as `ENCODER.STEP`.
 *
 * @throws UsageError when there is none
 */
export function findMethod(name: string): NamedMethod {
  const [workflowName, methodName, ...rest] = name.split('.');
  const workflow = findWorkflow(workflowName!);
  const short = shortName(workflow);
  const names = workflow.methods.map((method) => method.name);
  if (methodName === undefined || methodName === '' || rest.length > 0)
    throw new UsageError(`A step is named as ENCODER.STEP: ${short}.${names[0]}; ${short} has ${names.join(', ')}`);
  const method = workflow.methods.find((one) => isSame(one.name, methodName));
  if (method !== undefined) return { encoder: workflow.encoder, method, title: `${short}.${method.name}` };
  const hint = didYouMean(methodName, names) || `; it has ${names.join(', ')}`;
  throw new UsageError(`${short} has no step "${methodName}"${hint}`);
}

/** The options that stand for the step. @throws UsageError when there is no such step */
export async function stepOptions(name: string): Promise<KnownOptions> {
  const { method, title } = findMethod(name);
  const inputs = method.inputs.flatMap((input) => spellings(input.name).map((option) => [option, specOf(input)]));
  const shown = method.inputs.map((input) => `--${input.name}`);
  return {
    options: { ...WORKFLOW_OPTIONS, ...(Object.fromEntries(inputs) as Record<string, OptionSpec>) },
    hint: `${title} takes ${shown.join(', ')}`,
  };
}

/** As an option may write it: `return_agent`, `return-agent`. */
export function spellings(input: string): readonly string[] {
  return [...new Set([input, input.replaceAll('_', '-')])];
}

export function shortName({ alias, encoder }: WorkflowInfo): string {
  return alias ?? encoder;
}

function specOf({ type, description }: InputInfo): OptionSpec {
  return type === 'boolean' ? { type: 'string', optional: true, description } : { type: 'string', description };
}

/** Camel case, as the library has it as well, is the same without its underscores. */
function isSame(name: string, given: string): boolean {
  const plain = (text: string): string => text.replace(/[-_]/g, '').toLowerCase();
  return plain(name) === plain(given);
}
