/** The single checks of the validator, each a function over one packet, in the order in which they run. */
import { nameOf } from '../text/expectations.js';
import type { Span } from '../text/span.js';
import { nearest } from '../text/suggest.js';
import { quotedShort as show } from '../text/visible.js';
import type { Field, Packet } from './ast.js';
import type { ValidationCode } from './codes.js';
import { firstWhiteSpace, type Part, spanOf } from './places.js';
import { CONTROL, DOMAINS, KEY_NUMBERS, lowerAscii, PRIORITIES, TASKS, VERSION } from './vocabulary.js';

/** Takes one finding. */
export type Report = (
  code: ValidationCode,
  message: string,
  span: Span | null,
  help?: string | undefined,
  related?: Span | null | undefined,
) => void;

/** What the checks look at, and what they learn on the way. */
export interface Context {
  readonly packet: Packet;
  /** The text that the packet was read from; `null` for a hand-built one, whose findings have no spans. */
  readonly text: string | null;
  /** The text was read strictly: its keys are in lower case, and nothing in it needs a search for blanks or controls. */
  readonly strict: boolean;
  /** The packet with spans, if it was read from a text. Read when the first finding asks where it is; most never do. */
  readonly located: () => Packet;
  /** In lower case. */
  readonly privateKeys: readonly string[];
  readonly report: Report;
  /** The first field of each known key, by the key's number; filled by `checkFields`, as is `others`. */
  readonly known: (number | undefined)[];
  /** The first field of each other key, in lower case. */
  readonly others: Map<string, number>;
}

/** The separator, as it can stand only in hand-built packets. */
const SEPARATOR = '|';

/** Keys of one packet that get a "did you mean". */
const MAX_SUGGESTED = 1_000;

export function runChecks(context: Context): void {
  const { packet, text, report } = context;
  if ((text ?? packet.task + packet.domain).trim() === '' && packet.fields.length === 0) {
    report('empty-packet', 'The packet is empty.', text === null ? null : { start: 0, end: text.length });
    return;
  }
  checkTask(context);
  checkDomain(context);
  checkWhiteSpace(context);
  checkFields(context);
  checkMissing(context);
  checkCompanions(context);
}

/** Reports what is about a part of the packet; `number` is that of its field, `related` that of another one. */
function reportAt(
  { located, text, report }: Context,
  code: ValidationCode,
  message: string,
  part: Part,
  number: number,
  help?: string | undefined,
  related?: number | undefined,
): void {
  const packet = located();
  const other = related === undefined ? null : spanOf('field', packet, text, related);
  report(code, message, spanOf(part, packet, text, number), help, other);
}

function checkTask(context: Context): void {
  const { task } = context.packet;
  if (task === '') {
    reportAt(context, 'missing-task', 'Field 0, the TASK, is empty.', 'TASK', 0, oneOf(TASKS));
    return;
  }
  if (!Object.hasOwn(TASKS, task)) {
    const help = /^@[^>]*>/.test(task)
      ? 'this looks like an ACCP frame'
      : Object.hasOwn(DOMAINS, task)
        ? `"${task}" is a DOM; is the TASK missing?`
        : suggest(task, Object.keys(TASKS));
    reportAt(context, 'unknown-task', `The TASK ${show(task)} is not one of v${VERSION}.`, 'TASK', 0, help);
  }
  checkCharacters(context, task, 'TASK');
}

function checkDomain(context: Context): void {
  const { domain } = context.packet;
  if (domain === '') {
    reportAt(context, 'missing-dom', 'Field 1, the DOM, is empty or missing.', 'DOM', 0, oneOf(DOMAINS));
    return;
  }
  if (!Object.hasOwn(DOMAINS, domain)) {
    const help = domain.includes(':')
      ? 'a named field stands where the DOM should'
      : suggest(domain, Object.keys(DOMAINS));
    reportAt(context, 'unknown-dom', `The DOM ${show(domain)} is not one of v${VERSION}.`, 'DOM', 0, help);
  }
  checkCharacters(context, domain, 'DOM');
}

/** Once for the whole packet: a wrapped packet has white space at every line end. */
function checkWhiteSpace({ text, strict, located, report }: Context): void {
  const span = text === null || strict ? null : firstWhiteSpace(located(), text);
  if (span !== null) report('whitespace', 'White space around a token; readers drop it.', span, 'take it out');
}

function checkFields(context: Context): void {
  const { fields } = context.packet;
  for (let number = 0; number < fields.length; number++) {
    const field = fields[number]!;
    if (field.bare) checkBareField(context, field.value, number);
    else checkField(context, field, number);
  }
}

function checkBareField(context: Context, value: string, number: number): void {
  if (value === '') {
    reportAt(context, 'empty-field', 'An empty field between two separators.', 'field', number, 'take the "|" out');
  } else {
    const message = `The field ${show(value)} has no colon.`;
    reportAt(context, 'malformed-field', message, 'field', number, 'fields are key:value');
  }
  checkCharacters(context, value, 'field', number);
}

function checkField(context: Context, field: Field, number: number): void {
  const { strict, known, others, privateKeys } = context;
  const key = strict ? field.key : lowerAscii(field.key);
  if (key !== field.key) {
    const message = `The key ${show(field.key)} has capitals.`;
    reportAt(context, 'key-case', message, 'key', number, `write ${show(key)}`);
  }
  const keyNumber = KEY_NUMBERS.get(key);
  const earlier = keyNumber === undefined ? others.get(key) : known[keyNumber];
  if (key === '') {
    reportAt(context, 'empty-key', 'A field without a key.', 'field', number);
  } else if (earlier !== undefined) {
    const message = `The key ${show(key)} is repeated; readers disagree on which field counts.`;
    reportAt(context, 'duplicate-key', message, 'key', number, 'keep one of the two', earlier);
  } else {
    if (keyNumber !== undefined) known[keyNumber] = number;
    else {
      others.set(key, number);
      if (!privateKeys.some((one) => (one.endsWith('*') ? key.startsWith(one.slice(0, -1)) : key === one))) {
        // So many keys are no slip of the pen, and comparing each with all that are known would take long.
        const help = others.size > MAX_SUGGESTED ? undefined : suggest(key, KEY_NUMBERS.keys());
        const message = `The key ${show(field.key)} is not one of v${VERSION}.`;
        reportAt(context, 'unknown-key', message, 'key', number, help);
      }
    }
    checkValue(context, key, field.value, number);
  }
  checkCharacters(context, field.key, 'key', number);
  checkCharacters(context, field.value, 'value', number);
}

function checkValue(context: Context, key: string, value: string, number: number): void {
  // Any white space counts as nothing here, Unicode's too: no reader could make a name of it.
  if (value.trim() === '') {
    if (key === 'return') reportAt(context, 'empty-return', 'The field return names no agent.', 'value', number);
    else if (key === 'aacp')
      reportAt(context, 'empty-aacp', 'The field aacp names no version.', 'value', number, `write "aacp:${VERSION}"`);
    else reportAt(context, 'empty-value', `The field ${show(key)} is empty.`, 'value', number, 'leave it out');
  } else if (key === 'aacp' && value !== VERSION) {
    const message = `The packet is of version ${show(value)}; the draft's is ${VERSION}.`;
    reportAt(context, 'version-mismatch', message, 'value', number);
  } else if (key === 'p' && !Object.hasOwn(PRIORITIES, value)) {
    const message = `The priority ${show(value)} is not 1, 2 or 3.`;
    reportAt(context, 'bad-priority', message, 'value', number, 'p is 1 (critical), 2 (medium) or 3 (low)');
  }
}

function checkMissing(context: Context): void {
  if (firstOf(context, 'return') === undefined)
    reportAt(context, 'missing-return', 'No field return: nobody gets the result.', 'end', 0, 'add "return:AGENT"');
  if (firstOf(context, 'aacp') === undefined)
    reportAt(context, 'missing-aacp', 'No field aacp: the version is not told.', 'end', 0, `add "aacp:${VERSION}"`);
  if (firstOf(context, 'p') === undefined)
    reportAt(context, 'missing-p', 'No field p: the priority defaults to 2.', 'end', 0, 'add "p:2"');
}

/** Fields that say little without another one. An empty companion counts as absent. */
function checkCompanions(context: Context): void {
  const sentiment = present(context, 'sentiment');
  if (sentiment !== undefined && present(context, 'tone') === undefined) {
    const help = 'add "tone:empathetic", "tone:formal" or "tone:terse"';
    reportAt(context, 'sentiment-without-tone', 'A sentiment without a tone.', 'key', sentiment, help);
  }
  const ltv = present(context, 'ltv');
  if (ltv !== undefined && present(context, 'ccy') === undefined)
    reportAt(context, 'ltv-without-ccy', 'A lifetime value without its currency.', 'key', ltv, 'add a ccy field');
}

/** The number of the first field of a known key. */
function firstOf({ known }: Context, key: string): number | undefined {
  return known[KEY_NUMBERS.get(key)!];
}

/** The same, if the field has a value. */
function present(context: Context, key: string): number | undefined {
  const number = firstOf(context, key);
  return number === undefined || context.packet.fields[number]!.value.trim() === '' ? undefined : number;
}

/** Control characters; and separators, which only hand-built packets can hold. */
function checkCharacters(context: Context, token: string, part: Part, number = 0): void {
  const { strict, located, text, report } = context;
  if (strict) return;
  const control = CONTROL.exec(token);
  if (control !== null) {
    const span = spanOf(part, located(), text, number);
    const start = (span?.start ?? 0) + control.index;
    const at = span === null ? null : { start, end: start + 1 };
    report('control-character', `A ${part} holds a control character (${nameOf(control[0])}).`, at);
  }
  if (token.includes(SEPARATOR) || (part === 'key' && token.includes(':'))) {
    const message = `A ${part} holds a separator: written out, it would become further fields.`;
    reportAt(context, 'separator', message, part, number);
  }
}

function oneOf(words: Readonly<Record<string, string>>): string {
  return `one of ${Object.keys(words).join(', ')}`;
}

function suggest(word: string, known: Iterable<string>): string | undefined {
  const near = nearest(word, known);
  return near === undefined ? undefined : `did you mean "${near}"?`;
}
