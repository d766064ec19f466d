/** The workflow encoders of AACP as forms. */
import { EncodeError, encodeStep, type InputInfo, listWorkflows } from '../../aacp/encoders/index.js';

/** A step as a form. */
export interface StepForm {
  readonly name: string;
  readonly summary: string;
  readonly inputs: readonly Pick<InputInfo, 'name' | 'description' | 'required' | 'type' | 'default' | 'example'>[];
}

/** The workflows and their steps. */
export type WorkflowList = readonly {
  readonly encoder: string;
  readonly summary: string;
  readonly steps: readonly StepForm[];
}[];

/** A filled form: the texts of its inputs. */
export interface EncodeInput {
  readonly encoder: string;
  readonly step: string;
  readonly values: Readonly<Record<string, string>>;
}

/** The packets of a form, or the input that is wrong. */
export type EncodeOutput =
  | { readonly packets: readonly string[]; readonly notes: readonly string[] }
  | { readonly error: string; readonly code: string; readonly help: string | undefined };

export function workflowList(): WorkflowList {
  return listWorkflows().map(({ encoder, summary, methods }) => ({
    encoder,
    summary,
    steps: methods.map(({ name, summary: purpose, inputs }) => ({
      name,
      summary: purpose,
      inputs: inputs.map(({ name: input, description, required, type, default: value, example }) => ({
        ...{ name: input, description, required, type, default: value, example },
      })),
    })),
  }));
}

/** Encodes a form. Empty inputs are absent; a list has one item per comma. */
export function encodeForm({ encoder, step, values }: EncodeInput): EncodeOutput {
  const form = workflowList()
    .find((one) => one.encoder === encoder)
    ?.steps.find(({ name }) => name === step);
  if (form === undefined)
    return { error: `There is no step ${step} of ${encoder}.`, code: 'unknown-step', help: undefined };
  const args: Record<string, unknown> = {};
  for (const { name, type } of form.inputs) {
    const text = values[name]?.trim() ?? '';
    if (text === '') continue;
    if (type === 'list') args[name] = text.split(',').map((item) => item.trim());
    else args[name] = type === 'boolean' ? text === 'true' : text;
  }
  try {
    const results = [encodeStep(encoder as string, step as string, args)].flat();
    return {
      packets: results.map(({ packet }) => packet),
      notes: results.flatMap(({ losses, diagnostics }) => [
        ...losses.map(
          ({ input, kind, from, to }) =>
            `${input}: ${kind}, "${from}" ${to === null ? 'is not in the packet' : `is written as "${to}"`}`,
        ),
        ...diagnostics.map(({ message }) => message),
      ]),
    };
  } catch (thrown) {
    if (!(thrown instanceof EncodeError)) throw thrown;
    return { error: thrown.message, code: thrown.code, help: thrown.help };
  }
}
