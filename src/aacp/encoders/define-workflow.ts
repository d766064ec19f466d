import { VERSION } from '../vocabulary.js';
import { checkWorkflow } from './check-workflow.js';
import { type EngineStep, readTemplate, slotsOf } from './compile-slots.js';
import {
  camelCase,
  type EncodeOptions,
  type FieldDefinition,
  resolveOptions,
  type SequenceDefinition,
  type Workflow,
  type WorkflowDefinition,
} from './definition.js';
import { withCommonInputs } from './inputs.js';
import { POINTER, rankOf } from './losses.js';
import type { FieldPlan, ItemPlan, Mode, Op, Program, StepPlan } from './plan.js';
import type { StepResult } from './result.js';
import { runSequence, runStep, type SequencePlan } from './run-step.js';

export interface MethodPlan {
  readonly name: string;
  readonly summary: string;
  readonly run: (args: unknown, options?: EncodeOptions) => StepResult | readonly StepResult[];
  readonly steps: readonly StepPlan[];
  readonly sequence: SequencePlan | null;
}

export interface WorkflowPlan {
  readonly definition: WorkflowDefinition;
  /** The methods by name, in snake case and camel case. */
  readonly methods: ReadonlyMap<string, MethodPlan>;
}

const PLANS = new WeakMap<object, WorkflowPlan>();

/**
 * Makes an encoder from a definition: an object with a function for each step and each sequence. The definition is checked once, here; its
 * packets are then valid without further validation. Source: draft-mackay-aacp-01, section 6.1.
 *
 * @throws TypeError if the definition is invalid, or packets of a step could be invalid or hide an input; the message names the step
 * @example
 * const TravelEncoder = defineWorkflow({
 *   name: 'TravelEncoder',
 *   summary: 'Booking of business trips.',
 *   steps: {
 *     book_train: {
 *       summary: 'Book a train.',
 *       task: 'BUILD',
 *       domain: 'HR',
 *       returnAgent: 'HR-Agent',
 *       inputs: { to: { schema: z.string(), description: 'the destination', normalise: ['space-to-hyphen'] } },
 *       fields: [['res', 'train'], ['filter', ['to={to}']]],
 *     },
 *   },
 * });
 * TravelEncoder.book_train({ to: 'New York' }).packet
 * // 'BUILD|HR|return:HR-Agent|p:2|aacp:1.1|res:train|filter:to=New-York'
 */
export function defineWorkflow<const Definition extends WorkflowDefinition>(
  definition: Definition,
): Workflow<Definition> {
  checkWorkflow(definition);
  const steps = new Map<string, StepPlan>();
  const methods: MethodPlan[] = [];
  for (const [name, step] of Object.entries(definition.steps)) {
    const plan = compiled(`${definition.name}.${name}`, { ...step, inputs: withCommonInputs(step) });
    steps.set(name, plan);
    methods.push(stepMethod(name, step.summary, plan));
  }
  for (const [name, sequence] of Object.entries(definition.sequences ?? {})) {
    methods.push(sequenceMethod(name, `${definition.name}.${name}`, sequence, steps));
  }
  return encoderOf(definition, methods) as Workflow<Definition>;
}

export function defineRaw(definition: WorkflowDefinition, method: string, step: EngineStep): object {
  return encoderOf(definition, [stepMethod(method, step.summary, compiled(`${definition.name}.${method}`, step))]);
}

export function planOf(encoder: object): WorkflowPlan | undefined {
  return PLANS.get(encoder);
}

function compiled(path: string, step: EngineStep): StepPlan {
  try {
    return compileStep(path, step);
  } catch (thrown) {
    // Compiling reads defaults only.
    throw new TypeError(`${path}: default: ${(thrown as Error).message}`, { cause: thrown });
  }
}

function stepMethod(name: string, summary: string, plan: StepPlan): MethodPlan {
  return {
    name,
    summary,
    steps: [plan],
    sequence: null,
    run: (args, options) => runStep(plan, args, resolveOptions(options)),
  };
}

function sequenceMethod(
  name: string,
  path: string,
  { summary, inputs, steps }: SequenceDefinition,
  plans: ReadonlyMap<string, StepPlan>,
): MethodPlan {
  const sequence: SequencePlan = { path, inputs, steps: steps.map((step) => plans.get(step)!) };
  const run: MethodPlan['run'] = (args, options) => runSequence(sequence, args, resolveOptions(options));
  return { name, summary, steps: sequence.steps, sequence, run };
}

function encoderOf(definition: WorkflowDefinition, methods: readonly MethodPlan[]): object {
  const encoder: Record<string, MethodPlan['run']> = Object.create(null);
  const byName = new Map<string, MethodPlan>();
  for (const method of methods) {
    encoder[method.name] = method.run;
    byName.set(method.name, method).set(camelCase(method.name), method);
  }
  PLANS.set(encoder, { definition, methods: byName });
  return Object.freeze(encoder);
}

function compileStep(path: string, step: EngineStep): StepPlan {
  const slots = slotsOf(step);
  const byName = new Map(slots.map((slot) => [slot.name, slot]));
  const programs: (Program | undefined)[] = [];
  const head = step.headFromInputs === true ? [byName.get('task')!, byName.get('domain')!] : [];
  const conditional = slots.filter(({ definition: { defaultWith, requires } }) => defaultWith ?? requires);
  const { task, domain, lenient = false } = step;
  const noValues = slots.map(() => undefined);
  const plan = { path, task, domain, head, slots, byName, noValues, conditional, lenient };

  function program(mode: Mode, knowsFields: boolean): Program {
    const at = (mode === 'compat' ? 2 : 0) + (knowsFields ? 1 : 0);
    programs[at] ??= compileProgram(step, plan, mode, knowsFields);
    return programs[at];
  }
  return { ...plan, program };
}

type Inner = Omit<StepPlan, 'program'>;

function compileProgram(step: EngineStep, plan: Inner, mode: Mode, knowsFields: boolean): Program {
  const written: FieldPlan[] = [fieldOf(['return', '{return_agent}'], plan), fieldOf(['p', '{priority}'], plan)];
  const leftOut: FieldPlan[] = [];
  for (const definition of step.fields) {
    const [key, , options = {}] = definition;
    if (options.only !== undefined && options.only !== mode) continue;
    if (options.ifKnown === true && !knowsFields) continue;
    (knowsFields && (key === 'fields' || key === 'data_ptr') ? leftOut : written).push(fieldOf(definition, plan));
  }
  const fields = written.map((field, at) => (at < 2 ? { ...field, pure: false } : field));
  const hidden = mode === 'compat' ? [] : plan.slots.filter(({ personal }) => personal);
  const pointed = hidden.length > 0 && !knowsFields;
  return {
    mode,
    lenient: plan.lenient && mode === 'compat',
    slots: plan.slots,
    head: plan.head,
    ops: opsOf(headOf(plan), pointed ? withPointer(fields, plan.slots.length) : fields, plan, mode),
    fields: fields.filter(({ slots, items }) => slots.length > 0 || items.some(({ when }) => when >= 0)),
    lossless: mode === 'default' && leftOut.length === 0 && hidden.length === 0 && !fields.some(isRespelt),
    leftOut,
    pureSlots: plan.slots.map(({ index }) => fields.every((field) => field.pure || !field.slots.includes(index))),
    pointed,
    referenced: hidden.toSorted((a, b) => (a.name < b.name ? -1 : 1)),
    defaults: [...plan.slots.map(({ reading }) => reading[mode].defaultText), null],
  };
}

function fieldOf([key, value, options]: FieldDefinition, { byName }: Inner): FieldPlan {
  const slotOf = (name: string | undefined): number => (name === undefined ? -1 : byName.get(name)!.index);
  const items = (typeof value === 'string' ? [value] : value).map((item): ItemPlan => {
    const [template, when] = typeof item === 'string' ? [item] : item;
    const pieces = readTemplate(template).map((piece) =>
      typeof piece === 'string' ? piece : { slot: slotOf(piece.input), normalise: piece.normalise },
    );
    return { pieces, when: slotOf(when) };
  });
  const pieces = items.flatMap((item) => item.pieces);
  const slots = new Set(pieces.flatMap((piece) => (typeof piece === 'string' ? [] : piece.slot)));
  const pure = pieces.every((piece) => typeof piece !== 'string');
  return { key, start: `|${key}:`, items, when: slotOf(options?.when), slots: [...slots], pure };
}

function isRespelt({ items }: FieldPlan): boolean {
  return items.some(({ pieces }) => pieces.some((piece) => typeof piece !== 'string' && piece.normalise.length > 0));
}

/** Adds the pointer, whose slot follows those of all inputs. */
function withPointer(fields: readonly FieldPlan[], slot: number): readonly FieldPlan[] {
  const place = { slot, normalise: [] };
  const items = [{ pieces: [place], when: -1 }];
  const field = { key: POINTER, start: `|${POINTER}:`, items, when: -1, slots: [slot], pure: true };
  const before = fields.filter(({ key }) => rankOf(key) < rankOf(POINTER));
  return [...before, field, ...fields.slice(before.length)];
}

function headOf({ task, domain, head }: Inner): readonly Op[] {
  if (head.length === 0) return [{ ...NOTHING, before: `${task}|${domain}` }];
  return head.map(({ index }, at) => ({ ...NOTHING, before: at === 0 ? '' : '|', slot: index }));
}

const NOTHING: Op = { before: '', slot: -1, field: null, after: '', pure: false };

/** Merges constant text into the previous operation, if that is always executed. */
function opsOf(head: readonly Op[], fields: readonly FieldPlan[], plan: Inner, mode: Mode): readonly Op[] {
  const ops: Op[] = [...head];
  const add = (op: Op): void => {
    const last = ops.at(-1)!;
    if (op.slot < 0 && op.field === null && isAlwaysWritten(last, plan, mode)) {
      ops[ops.length - 1] = { ...last, after: last.after + op.before };
    } else ops.push(op);
  };
  for (const field of fields) {
    add(opOf(field));
    // `aacp` follows return and p, as in the examples of the draft (section 4.4).
    if (field.key === 'p') add({ ...NOTHING, before: `|aacp:${VERSION}` });
  }
  return ops;
}

function opOf(field: FieldPlan): Op {
  const { start, items, when, slots, pure } = field;
  const [item, ...more] = items;
  if (when >= 0 || item === undefined || item.when >= 0 || more.length > 0) return { ...NOTHING, field };
  if (slots.length === 0) return { ...NOTHING, before: start + item.pieces.join('') };
  const places = item.pieces.filter((piece) => typeof piece !== 'string');
  const [place] = places;
  if (place === undefined || places.length > 1 || place.normalise.length > 0) return { ...NOTHING, field };
  const at = item.pieces.indexOf(place);
  return {
    before: start + item.pieces.slice(0, at).join(''),
    slot: place.slot,
    field: null,
    after: item.pieces.slice(at + 1).join(''),
    pure,
  };
}

function isAlwaysWritten(op: Op, { slots }: Inner, mode: Mode): boolean {
  if (op.slot < 0) return op.field === null;
  const slot = slots[op.slot];
  if (slot === undefined) return false;
  if (mode === 'compat' && op.pure) return false;
  return slot.required || (slot.definition.default !== undefined && slot.definition.defaultWith === undefined);
}
