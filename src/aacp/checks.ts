/** The single checks of the validator, each a function over one packet, in the order in which they run. */
import { nameOf } from '../text/expectations.js';
import type { Span } from '../text/span.js';
import { nearest } from '../text/suggest.js';
import { quotedShort as show } from '../text/visible.js';
import type { Field, Packet } from './ast.js';
import type { ValidationCode } from './codes.js';
import { domainSpan, firstWhiteSpace, keySpan, taskSpan, valueSpan } from './places.js';
import { CONTROL, CORE_KEYS, DOMAINS, EXTENDED_KEYS, lowerAscii, TASKS, VERSION } from './vocabulary.js';

/** Takes one finding. */
export type Report = (
  code: ValidationCode,
  message: string,
  span: Span | null,
  extra?: { readonly help?: string; readonly related?: readonly Span[] },
) => void;

/** What the checks look at, and what they learn on the way. */
export interface Context {
  readonly packet: Packet;
  /** The text that the packet was read from; `null` for a hand-built one, whose findings have no spans. */
  readonly text: string | null;
  /** In lower case. */
  readonly privateKeys: readonly string[];
  readonly report: Report;
  /** The first field of each key, keys in lower case; filled by `checkFields`. */
  readonly first: Map<string, Field>;
}

/** The separator, as it can stand only in hand-built packets. */
const SEPARATOR = '|';

const KNOWN_KEYS: ReadonlySet<string> = new Set([...CORE_KEYS, ...EXTENDED_KEYS]);
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

function checkTask({ packet, text, report }: Context): void {
  const { task } = packet;
  const span = taskSpan(packet, text);
  if (task === '') {
    report('missing-task', 'Field 0, the TASK, is empty.', span, { help: `one of ${Object.keys(TASKS).join(', ')}` });
    return;
  }
  if (!Object.hasOwn(TASKS, task)) {
    const isDomain = Object.hasOwn(DOMAINS, task);
    const isFrame = /^@[^>]*>/.test(task);
    const extra = isFrame
      ? { help: 'this looks like an ACCP frame' }
      : isDomain
        ? { help: `"${task}" is a DOM; is the TASK missing?` }
        : suggest(task, Object.keys(TASKS));
    report('unknown-task', `The TASK ${show(task)} is not one of v${VERSION}.`, span, extra);
  }
  checkCharacters(task, span, 'TASK', report);
}

function checkDomain({ packet, text, report }: Context): void {
  const { domain } = packet;
  const span = domainSpan(packet, text);
  if (domain === '') {
    const help = `one of ${Object.keys(DOMAINS).join(', ')}`;
    report('missing-dom', 'Field 1, the DOM, is empty or missing.', span, { help });
    return;
  }
  if (!Object.hasOwn(DOMAINS, domain)) {
    const isField = domain.includes(':');
    const extra = isField
      ? { help: 'a named field stands where the DOM should' }
      : suggest(domain, Object.keys(DOMAINS));
    report('unknown-dom', `The DOM ${show(domain)} is not one of v${VERSION}.`, span, extra);
  }
  checkCharacters(domain, span, 'DOM', report);
}

/** Once for the whole packet: a wrapped packet has white space at every line end. */
function checkWhiteSpace({ packet, text, report }: Context): void {
  const span = text === null ? null : firstWhiteSpace(packet, text);
  if (span !== null)
    report('whitespace', 'White space around a token; readers drop it.', span, { help: 'take it out' });
}

function checkFields(context: Context): void {
  for (const field of context.packet.fields) {
    if (field.bare) checkBareField(field, context.report);
    else checkField(field, context);
  }
}

function checkBareField(field: Field, report: Report): void {
  const { value } = field;
  const span = field.span ?? null;
  if (value === '') report('empty-field', 'An empty field between two separators.', span, { help: 'take the "|" out' });
  else report('malformed-field', `The field ${show(value)} has no colon.`, span, { help: 'fields are key:value' });
  checkCharacters(value, span, 'field', report);
}

function checkField(field: Field, context: Context): void {
  const { report, first } = context;
  const key = lowerAscii(field.key);
  if (key === '') report('empty-key', 'A field without a key.', field.span ?? null);
  if (key !== field.key)
    report('key-case', `The key ${show(field.key)} has capitals.`, keySpan(field), { help: `write ${show(key)}` });
  const earlier = first.get(key);
  if (earlier !== undefined && key !== '') {
    const related = earlier.span === undefined ? {} : { related: [earlier.span] };
    const message = `The key ${show(key)} is repeated; readers disagree on which field counts.`;
    report('duplicate-key', message, keySpan(field), { help: 'keep one of the two', ...related });
  } else if (key !== '') {
    first.set(key, field);
    if (!isKnown(key, context.privateKeys)) {
      // So many keys are no slip of the pen, and comparing each with all that are known would take long.
      const extra = first.size > MAX_SUGGESTED ? {} : suggest(key, [...KNOWN_KEYS]);
      report('unknown-key', `The key ${show(field.key)} is not one of v${VERSION}.`, keySpan(field), extra);
    }
    checkValue(key, field, report);
  }
  checkCharacters(field.key, keySpan(field), 'key', report);
  checkCharacters(field.value, valueSpan(field), 'value', report);
}

function checkValue(key: string, field: Field, report: Report): void {
  const { value } = field;
  // Any white space counts as nothing here, Unicode's too: no reader could make a name of it.
  if (value.trim() === '') {
    const span = valueSpan(field);
    if (key === 'return') report('empty-return', 'The field return names no agent.', span);
    else if (key === 'aacp')
      report('empty-aacp', 'The field aacp names no version.', span, { help: `write "aacp:${VERSION}"` });
    else report('empty-value', `The field ${show(key)} is empty.`, span, { help: 'leave it out' });
    return;
  }
  if (key === 'aacp' && value !== VERSION) {
    report('version-mismatch', `The packet is of version ${show(value)}; the draft's is ${VERSION}.`, valueSpan(field));
  }
  if (key === 'p' && !['1', '2', '3'].includes(value)) {
    const help = 'p is 1 (critical), 2 (medium) or 3 (low)';
    report('bad-priority', `The priority ${show(value)} is not 1, 2 or 3.`, valueSpan(field), { help });
  }
}

function checkMissing({ text, first, report }: Context): void {
  const end = text === null ? null : { start: text.length, end: text.length };
  if (!first.has('return')) {
    report('missing-return', 'No field return: nobody gets the result.', end, { help: 'add "return:AGENT"' });
  }
  if (!first.has('aacp'))
    report('missing-aacp', 'No field aacp: the version is not told.', end, { help: `add "aacp:${VERSION}"` });
  if (!first.has('p')) report('missing-p', 'No field p: the priority defaults to 2.', end, { help: 'add "p:2"' });
}

/** Fields that say little without another one. An empty companion counts as absent. */
function checkCompanions({ first, report }: Context): void {
  const present = (key: string): Field | undefined => {
    const field = first.get(key);
    return field === undefined || field.value.trim() === '' ? undefined : field;
  };
  const sentiment = present('sentiment');
  if (sentiment !== undefined && present('tone') === undefined) {
    const help = 'add "tone:empathetic", "tone:formal" or "tone:terse"';
    report('sentiment-without-tone', 'A sentiment without a tone.', keySpan(sentiment), { help });
  }
  const ltv = present('ltv');
  if (ltv !== undefined && present('ccy') === undefined) {
    report('ltv-without-ccy', 'A lifetime value without its currency.', keySpan(ltv), { help: 'add a ccy field' });
  }
}

/** Control characters; and separators, which only hand-built packets can hold. */
function checkCharacters(text: string, span: Span | null, what: string, report: Report): void {
  const control = CONTROL.exec(text);
  if (control !== null) {
    const start = (span?.start ?? 0) + control.index;
    const at = span === null ? null : { start, end: start + 1 };
    report('control-character', `A ${what} holds a control character (${nameOf(control[0])}).`, at);
  }
  if (text.includes(SEPARATOR) || (what === 'key' && text.includes(':'))) {
    report('separator', `A ${what} holds a separator: written out, it would become further fields.`, span);
  }
}

function isKnown(key: string, privateKeys: readonly string[]): boolean {
  if (KNOWN_KEYS.has(key)) return true;
  return privateKeys.some((known) => (known.endsWith('*') ? key.startsWith(known.slice(0, -1)) : key === known));
}

function suggest(word: string, known: readonly string[]): { readonly help?: string } {
  const near = nearest(word, known);
  return near === undefined ? {} : { help: `did you mean "${near}"?` };
}
