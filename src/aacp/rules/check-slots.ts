/** Whether the slots of a rule's phrases are those of its packet: what is asked for must be what is sent. */
import { quoted } from '../../text/visible.js';
import { inputSlots, type Slots } from './inputs.js';
import type { Tell } from './reports.js';
import type { Rule } from './rule.js';
import { type PhraseSlot, readPhrase, readTemplate, type SlotKind, slotsOf, type TemplateSlot } from './slots.js';

/** Words that a phrase has to have beside its slots: with fewer, it would match anything. */
const FEWEST_WORDS = 2;

/**
 * The slots that an instruction fills.
 *
 * @throws RulesError with code `bad-slot`, on braces that hold none
 */
export function checkSlots(rule: Rule, tell: Tell): Slots {
  const phrases = rule.phrases.map((phrase) => ({ phrase, parts: readPhrase(phrase) }));
  const slots = kindsOf(
    phrases.flatMap(({ parts }) => slotsOf(parts)),
    tell,
  );
  const inPacket = slotsOf(readTemplate(rule.packet));
  const inInputs = rule.workflow === null ? [] : inputSlots(rule.workflow);
  // Where a step makes the packet, the inputs are what counts; the rule's own packet shows what comes out.
  const sent = rule.workflow === null ? inPacket : inInputs;
  const needed = new Set([...inPacket, ...inInputs].map(({ name }) => name));
  const used = new Set(sent.map(({ name }) => name));
  for (const { phrase, parts } of phrases) {
    const named = slotsOf(parts).map(({ name }) => name);
    checkNames(phrase, named, needed, used, tell);
    const words = parts
      .filter((part) => typeof part === 'string')
      .join(' ')
      .split(/[^\p{L}\p{N}]+/u);
    if (words.filter(Boolean).length < FEWEST_WORDS) {
      tell('bare-phrase', `The phrase ${quoted(phrase)} has hardly any words but its slots; it would match anything.`);
    }
  }
  checkParts(slots, [...inPacket, ...inInputs], sent, tell);
  return slots;
}

/** The first slot of a rule that no phrase could fill, because there is none; `null` where all is well. */
export function slotWithoutPhrase({ packet, workflow }: Rule): string | null {
  // Other braces are no slots, and may stand in a packet like any character.
  const inPacket = /\{[a-z][a-z0-9_]*(?:\.(?:value|currency))?\}/.exec(packet)?.[0];
  if (inPacket !== undefined) return inPacket;
  const [first] = workflow === null ? [] : inputSlots(workflow);
  return first === undefined ? null : `{${first.name}}`;
}

function kindsOf(all: readonly PhraseSlot[], tell: Tell): Slots {
  const kinds = new Map<string, SlotKind>();
  for (const { name, kind } of all) {
    const known = kinds.get(name) ?? kind;
    if (known !== kind) tell('bad-slot', `The slot ${name} is of kind ${known} in one phrase and ${kind} in another.`);
    kinds.set(name, known);
  }
  return kinds;
}

function checkNames(
  phrase: string,
  named: readonly string[],
  needed: ReadonlySet<string>,
  used: ReadonlySet<string>,
  tell: Tell,
): void {
  const shown = `The phrase ${quoted(phrase)}`;
  const own = new Set(named);
  for (const name of needed) if (!own.has(name)) tell('unfilled-slot', `${shown} does not say what ${name} is.`);
  for (const name of own) if (!used.has(name)) tell('unused-slot', `${shown} says ${name}, which nothing takes up.`);
  if (own.size < named.length) tell('bad-slot', `${shown} has a slot twice.`);
}

/** An amount is two fields, and both have to be there; nothing else has parts. */
function checkParts(slots: Slots, all: readonly TemplateSlot[], sent: readonly TemplateSlot[], tell: Tell): void {
  for (const { name, part } of all) {
    const kind = slots.get(name);
    if (kind === undefined || (kind === 'amount') === (part !== null)) continue;
    const why = part === null ? `an amount is {${name}.value} and {${name}.currency}` : 'only amounts have parts';
    tell('bad-slot', `The slot ${name}: ${why}.`);
  }
  for (const [name, kind] of slots) {
    const parts = new Set(sent.filter((slot) => slot.name === name).map(({ part }) => part));
    if (kind === 'amount' && parts.size === 1 && !parts.has(null)) {
      tell('unused-slot', `Of the amount ${name}, only the ${[...parts].join('')} is taken up.`);
    }
  }
}
