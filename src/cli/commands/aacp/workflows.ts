import { type InputInfo, listWorkflows, type MethodInfo, type WorkflowInfo } from '../../../aacp/encoders/index.js';
import { didYouMean, UsageError } from '../../io/errors.js';
import { toJson } from '../../io/json.js';
import type { Paint } from '../../io/output.js';
import { count } from '../../io/report.js';
import { defineCommand } from '../../options/command.js';
import { alternatives } from '../../options/option.js';

export const command = defineCommand({
  takes: { words: '[NAME|NAME.STEP]' },
  options: {},
  details: 'Without a name, lists all workflows; with NAME, the steps of one; with NAME.STEP, one step.',
  example: 'pegwire aacp workflows payroll.fetch_employees',
  run: async (invocation) => {
    const { words, json, output } = invocation;
    const [name, extra] = words;
    if (extra !== undefined) throw new UsageError(`aacp workflows takes one name; remove "${extra}"`);
    if (name === undefined) {
      const all = listWorkflows();
      for (const workflow of all) await output.result(json ? toJson(workflow) : summaryOf(workflow));
      if (!json) await output.note('Run "pegwire aacp workflows NAME" for the steps and inputs of one.');
      return 0;
    }
    if (name.includes('.')) {
      const { encoder, method, title } = findMethod(name);
      await output.result(json ? toJson({ encoder, ...method }) : methodText(method, title, output.paint));
      return 0;
    }
    const workflow = findWorkflow(name);
    await output.result(json ? toJson(workflow) : workflowText(workflow, output.paint));
    return 0;
  },
});

function summaryOf(workflow: WorkflowInfo): string {
  const { encoder, summary, methods } = workflow;
  const steps = methods.filter(({ kind }) => kind === 'step').length;
  return `${shortName(workflow).padEnd(14)}${encoder.padEnd(22)}${count(steps, 'step').padEnd(10)}${summary}`;
}

function workflowText(workflow: WorkflowInfo, paint: Paint): string {
  const short = shortName(workflow);
  const head = `${paint('bold', short)} (${workflow.encoder}): ${workflow.summary}`;
  return [head, ...workflow.methods.map((method) => methodText(method, `${short}.${method.name}`, paint))].join('\n\n');
}

function methodText({ summary, steps, inputs, example }: MethodInfo, title: string, paint: Paint): string {
  const options = inputs.map((input) => ({ left: optionText(input), right: inputText(input) }));
  const width = Math.max(...options.map(({ left }) => left.length));
  return [
    `${paint('bold', title)}: ${summary}`,
    ...(steps.length === 0 ? [] : [`  steps: ${steps.join(', ')}`]),
    ...options.map(({ left, right }) => `  ${left.padEnd(width)}  ${right}`),
    ...(example === null ? [] : example.packets.map((packet) => `  ${paint('dim', '->')} ${packet}`)),
  ].join('\n');
}

const PLACEHOLDERS: Readonly<Record<InputInfo['type'], string>> = {
  text: ' TEXT',
  amount: ' AMOUNT',
  list: ' A,B',
  boolean: '',
};

function optionText({ name, type }: InputInfo): string {
  return `--${name}${PLACEHOLDERS[type]}`;
}

function inputText({ description, required, default: value, defaultWith, personal }: InputInfo): string {
  const where = defaultWith === null ? '' : ` if ${defaultWith} is given`;
  const more = [
    ...(required ? ['required'] : []),
    ...(value === null || value === false ? [] : [`default ${String(value)}${where}`]),
    ...(personal ? ['personal: sent by reference in data_ptr'] : []),
  ];
  return more.length === 0 ? description : `${description} (${more.join('; ')})`;
}

export type NamedMethod = ReturnType<typeof findMethod>;

/** Finds a workflow by its name or alias; case, hyphens and underscores do not matter. @throws UsageError if it is unknown */
function findWorkflow(name: string): WorkflowInfo {
  const all = listWorkflows();
  const found = all.find(({ encoder, alias }) => [encoder, alias].some((one) => one !== null && isSame(one, name)));
  if (found !== undefined) return found;
  const names = all.map(shortName);
  throw new UsageError(`Unknown workflow "${name}"${didYouMean(name, names) || `; expected ${alternatives(names)}`}`);
}

/** Finds a step or a sequence by `ENCODER.STEP`. @throws UsageError if it is unknown */
export function findMethod(name: string) {
  const [workflowName, methodName, ...rest] = name.split('.');
  const workflow = findWorkflow(workflowName!);
  const short = shortName(workflow);
  const names = workflow.methods.map((method) => method.name);
  if (methodName === undefined || methodName === '' || rest.length > 0)
    throw new UsageError(
      `A step is written as ENCODER.STEP, for example ${short}.${names[0]}; the steps of ${short} are ${names.join(', ')}`,
    );
  const method = workflow.methods.find((one) => isSame(one.name, methodName));
  if (method !== undefined) return { encoder: workflow.encoder, method, title: `${short}.${method.name}` };
  const hint = didYouMean(methodName, names) || `; expected ${alternatives(names)}`;
  throw new UsageError(`Unknown step "${methodName}" of ${short}${hint}`);
}

function shortName({ alias, encoder }: WorkflowInfo): string {
  return alias ?? encoder;
}

function isSame(name: string, given: string): boolean {
  const plain = (text: string): string => text.replace(/[-_]/g, '').toLowerCase();
  return plain(name) === plain(given);
}
