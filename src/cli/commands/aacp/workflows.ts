/** The work of `pegwire aacp workflows`. */
import { type InputInfo, listWorkflows, type MethodInfo, type WorkflowInfo } from '../../../aacp/encoders/index.js';
import { toJson } from '../../io/json.js';
import { type Invocation, UsageError } from '../../options/command.js';
import { count } from '../../session/notes.js';
import { findMethod, findWorkflow, shortName } from './steps.js';

/** All workflows; one with its steps; or one step with its inputs and an example. */
export async function showWorkflows(invocation: Invocation): Promise<number> {
  const { words, json, output } = invocation;
  const [name, extra] = words;
  if (extra !== undefined) throw new UsageError(`aacp workflows takes one name; "${extra}" is one too many`);
  if (name === undefined) {
    const all = listWorkflows();
    for (const workflow of all) await output.result(json ? toJson(workflow) : summaryOf(workflow));
    if (!json) await output.note('pegwire aacp workflows NAME tells the steps and inputs of one.');
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
}

type Paint = Invocation['output']['paint'];

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
  const where = defaultWith === null ? '' : ` where ${defaultWith} is given`;
  const more = [
    ...(required ? ['required'] : []),
    ...(value === null || value === false ? [] : [`default ${String(value)}${where}`]),
    ...(personal ? ['personal: behind data_ptr'] : []),
  ];
  return more.length === 0 ? description : `${description} (${more.join('; ')})`;
}
