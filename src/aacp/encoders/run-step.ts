import { isRecord } from '../../text/guards.js';
import { DEFAULT_LIMITS } from '../../text/limits.js';
import { sha256Hex } from '../../text/sha256.js';
import { didYouMean } from '../../text/suggest.js';
import { anyText, quotedShort } from '../../text/visible.js';
import { checkedValue, type EncodeError, encodeError } from '../build/values.js';
import type { Settings } from './definition.js';
import { type Run, writeField } from './losses.js';
import type { Mode, Program, Slot, StepPlan } from './plan.js';
import { type Reader, readValue } from './read-value.js';
import type { ReferencedData, StepResult } from './result.js';
import { EncodedStep } from './step-result.js';

export function runStep(plan: StepPlan, args: unknown, settings: Settings): StepResult {
  const mode: Mode = settings.compat ? 'compat' : 'default';
  const program = plan.program(mode, settings.knowsFields);
  const values = plan.noValues.slice();
  const unknown = takeArguments(plan, mode, args, program, values);
  const texts = program.defaults.slice();
  const reader: Reader = { program, changes: null };
  for (const slot of program.slots) {
    const value = values[slot.index];
    if (value !== undefined) texts[slot.index] = value === null ? null : readValue(slot, value, reader);
    else if (slot.required) throw missing(slot);
  }
  for (const slot of plan.conditional) settle(slot, plan, mode, texts, values);

  const referenced = program.pointed ? refer(program, texts, settings) : null;
  if (referenced !== null) texts[program.slots.length] = referenced.pointer;
  const { changes } = reader;
  const lossless = program.lossless && changes === null && unknown.length === 0;
  const run = { program, texts, values, changes, referenced, unknown, lossless };
  const packet = write(run);
  if (packet.length > DEFAULT_LIMITS.maxLength) throw tooLong(run);

  const [taskSlot, domainSlot] = program.head;
  const task = taskSlot === undefined ? plan.task : (texts[taskSlot.index] ?? '');
  const domain = domainSlot === undefined ? plan.domain : (texts[domainSlot.index] ?? '');
  return new EncodedStep(packet, task, domain, referenced, plan.path, settings.counter, run);
}

function write(run: Run): string {
  let packet = '';
  for (const op of run.program.ops) {
    if (op.slot >= 0) {
      const text = run.texts[op.slot] ?? null;
      if (text !== null && !(op.pure && text === '')) packet += op.before + text + op.after;
    } else if (op.field === null) packet += op.before + op.after;
    else {
      const text = writeField(op.field, run);
      if (text !== null) packet += op.field.start + text;
    }
  }
  return packet;
}

const NONE: Run['unknown'] = [];

/** Assigns arguments to slots. Returns those without a slot. */
function takeArguments(plan: StepPlan, mode: Mode, args: unknown, program: Program, values: unknown[]): Run['unknown'] {
  const byName = argumentsOf(args);
  let unknown: [name: string, text: string][] | null = null;
  for (const name of Object.keys(byName)) {
    const value = byName[name];
    const slot = plan.byName.get(name);
    const known = slot !== undefined && (mode === 'compat' || slot.definition.compatOnly === undefined);
    if (known) values[slot.index] = mode === 'compat' ? givenToSdk(slot, value, program) : givenOrEmpty(slot, value);
    else if (!program.lenient) throw unknownInput(name, inputsIn(mode, plan), plan.path, slot);
    else {
      unknown ??= [];
      unknown.push([name, anyText(value)]);
    }
  }
  return unknown ?? NONE;
}

/** Returns a value, or `undefined` if it counts as omitted. */
function given(value: unknown): unknown {
  return value === null || value === '' || (Array.isArray(value) && value.length === 0) ? undefined : value;
}

/** Rejects an empty value that would be replaced by the default: no licences would become all. */
function givenOrEmpty(slot: Slot, value: unknown): unknown {
  const isEmpty = value === '' || (Array.isArray(value) && value.length === 0);
  if (isEmpty && slot.definition.default !== undefined) {
    const help = 'leave it out where the default is meant';
    throw encodeError('empty-value', slot.name, 'is empty, and would be replaced by the default', help);
  }
  return given(value);
}

/** Applies the rule of the reference SDK, in which only an empty list and an absent argument get the default. */
function givenToSdk(slot: Slot, value: unknown, { pureSlots }: Program): unknown {
  if (slot.list || (value === null && (slot.required || !pureSlots[slot.index]))) return given(value);
  return value;
}

function settle(slot: Slot, plan: StepPlan, mode: Mode, texts: (string | null)[], values: readonly unknown[]): void {
  const { defaultWith, requires } = slot.definition;
  const textOf = (name: string): string | null => texts[plan.byName.get(name)!.index] ?? null;
  if (defaultWith !== undefined && values[slot.index] === undefined && textOf(defaultWith) === null) {
    texts[slot.index] = null;
  }
  if (requires === undefined || mode === 'compat' || texts[slot.index] === null || textOf(requires) !== null) return;
  throw encodeError('missing-input', requires, `is missing; ${slot.name} requires it`);
}

function missing({ name, definition }: Slot): EncodeError {
  return encodeError('missing-input', name, 'is missing', definition.description);
}

function argumentsOf(args: unknown): Readonly<Record<string, unknown>> {
  if (args === undefined) return {};
  if (isRecord(args)) return args;
  throw encodeError('bad-input', 'args', 'is not an object with the inputs by name');
}

function inputsIn(mode: Mode, { slots }: StepPlan): readonly string[] {
  return slots
    .filter(({ definition }) => mode === 'compat' || definition.compatOnly === undefined)
    .map(({ name }) => name);
}

function unknownInput(unknown: string, known: readonly string[], path: string, slot?: Slot): EncodeError {
  const shown = /^\w{1,64}$/.test(unknown) ? unknown : quotedShort(unknown);
  const help = slot?.definition.compatOnly ?? didYouMean(unknown, known);
  return encodeError('unknown-input', shown, `is not an input of ${path}`, help);
}

function tooLong({ program, texts }: Run): EncodeError {
  const lengthOf = ({ index }: Slot): number => texts[index]?.length ?? 0;
  const longest = program.slots.toSorted((a, b) => lengthOf(b) - lengthOf(a))[0];
  const message = `makes the packet longer than ${DEFAULT_LIMITS.maxLength} characters`;
  return encodeError('bad-input', longest?.name ?? 'args', message);
}

export interface SequencePlan {
  /** The full name of the sequence: `PayrollEncoder.full_run`. */
  readonly path: string;
  readonly inputs: readonly string[];
  readonly steps: readonly StepPlan[];
}

/** Runs a sequence: passes to each step the inputs that it has. */
export function runSequence(plan: SequencePlan, args: unknown, settings: Settings): readonly StepResult[] {
  const given = argumentsOf(args);
  for (const name of Object.keys(given)) {
    if (!plan.inputs.includes(name)) throw unknownInput(name, plan.inputs, plan.path);
  }
  return plan.steps.map((step) => {
    const own: Record<string, unknown> = Object.create(null);
    for (const name of plan.inputs) {
      if (step.byName.has(name) && Object.hasOwn(given, name)) own[name] = given[name];
    }
    return runStep(step, own, settings);
  });
}

/** Moves personal data behind a pointer. */
function refer({ referenced }: Program, texts: Run['texts'], { pointer }: Settings): ReferencedData | null {
  const data: Record<string, string> = Object.create(null);
  for (const { name, index } of referenced) {
    const text = texts[index] ?? null;
    if (text !== null) data[name] = text;
  }
  if (Object.keys(data).length === 0) return null;
  // This is canonical JSON, since the inputs are in ascending order of their names.
  if (pointer === undefined) return { pointer: `sha256:${sha256Hex(JSON.stringify(data))}`, data };
  return { pointer: checkedPointer(pointer(data)), data };
}

function checkedPointer(pointer: unknown): string {
  if (typeof pointer !== 'string') throw new TypeError('the function pointer must return a string');
  try {
    return checkedValue(pointer, 'pointer');
  } catch (thrown) {
    throw new TypeError('the function pointer returned a string that cannot be written in a packet', { cause: thrown });
  }
}
