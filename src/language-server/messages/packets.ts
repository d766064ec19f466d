/** Packets of AACP in an editor. */

import { canonicalizePacket, explainPacket, printPacket, tryParsePacket, validatePacket } from '../../aacp/index.js';
import { diagnosticFixes } from '../../aacp/language/fixes.js';
import { lintPacket } from '../../aacp/lint/lint.js';
import {
  CORE_KEYS,
  DOMAINS,
  FIELD_LABELS,
  lowerAscii,
  PRIORITIES,
  RISKS,
  STATUSES,
  TASKS,
  TONES,
  VERSION,
} from '../../aacp/vocabulary.js';
import { meaning, type Words } from '../../text/ascii.js';
import { PegwireError, PrintError } from '../../text/errors.js';
import { helpfulFixes } from '../../text/fix.js';
import { asCode, asText, type CompletionWord, type Finding, type TokenType, wordAt } from '../language.js';
import type { MessageLanguage, MessageSettings } from './message-language.js';
import { type PacketToken, readPacketTokens } from './packet-tokens.js';

const DRAFT = 'draft-mackay-aacp-01';

/** The known values of fields. */
const VALUES: Readonly<Record<string, Words>> = {
  p: PRIORITIES,
  aacp: { [VERSION]: 'version of the draft' },
  risk: RISKS,
  status: STATUSES,
  tone: TONES,
  fmt: { json: '', csv: '', pdf: '', xlsx: '', text: '' },
};

export const packets: MessageLanguage = {
  check: checkPacket,
  fixes: (text, finding, settings) =>
    helpfulFixes(text, finding, diagnosticFixes(text, finding), (one) => checkPacket(one, settings)),

  format: (text) => {
    const result = tryParsePacket(text);
    if (!result.ok) return null;
    try {
      return printPacket(canonicalizePacket(result.value));
    } catch (thrown) {
      if (thrown instanceof PrintError) return null;
      throw thrown;
    }
  },

  colors: (text) =>
    readPacketTokens(text).flatMap((token) => {
      const type = COLORS[token.role];
      return type === undefined ? [] : [{ start: token.start, end: token.end, type: valueType(token) ?? type }];
    }),

  hover: (text, offset, _settings, written) => {
    const near = readPacketTokens(text).filter(({ start, end }) => start <= offset && offset <= end);
    const token = near.findLast(({ role }) => role !== 'punctuation') ?? near[0];
    if (token === undefined) return null;
    const about = describe({ ...token, text: written(token.text) });
    const whole = asText(written(explainPacket(text)));
    return { span: token, text: about === null ? whole : `${about}\n\n---\n\n${whole}` };
  },

  complete: (text, offset, _settings, { agents }) => {
    const before = readPacketTokens(text.slice(0, offset));
    const slot = text.slice(0, offset).split('|').length - 1;
    const span = wordAt(text, offset, /[^|:,\s]/);
    if (slot < 2) return { span, words: slot === 0 ? named(TASKS, '|') : named(DOMAINS, '|') };
    const key = before.at(-1)?.role === 'value' || before.at(-1)?.text === ':' ? before.at(-1)!.key : undefined;
    if (key === undefined) {
      const used = new Set(
        readPacketTokens(text).flatMap((token) =>
          token.role === 'key' && token.start !== span.start ? [token.text] : [],
        ),
      );
      const suffix = text[span.end] === ':' ? undefined : ':';
      const keys = Object.keys(FIELD_LABELS).filter((one) => !used.has(one));
      return { span, words: keys.map((word) => ({ word, kind: 'key', detail: labelOf(word), suffix })) };
    }
    if (key === 'return' || key === 'actor')
      return { span, words: [...agents].map((word) => ({ word, kind: 'agent' })) };
    return Object.hasOwn(VALUES, key) ? { span, words: named(VALUES[key]!) } : null;
  },

  outline: (text) => {
    const tokens = readPacketTokens(text);
    const [task, domain] = ['task', 'domain'].map((role) => tokens.find((token) => token.role === role));
    const head = domain?.end ?? task?.end ?? text.length;
    const words = [meaning(TASKS, task?.text ?? ''), meaning(DOMAINS, domain?.text ?? '')].filter(Boolean);
    return {
      name: text.slice(0, head).trim() || 'packet',
      detail: words.join(', '),
      kind: 'message',
      span: { start: 0, end: text.length },
      selection: { start: 0, end: head },
      children: tokens.flatMap((token, index) => {
        if (token.role !== 'key' || token.text.trim() === '') return [];
        const value = tokens[index + 2]?.role === 'value' ? tokens[index + 2] : undefined;
        const span = { start: token.start, end: value?.end ?? token.end };
        return [
          {
            name: token.text.trim(),
            detail: value?.text ?? '',
            kind: 'key' as const,
            span,
            selection: token,
            children: [],
          },
        ];
      }),
    };
  },

  words: (text) => {
    const agents = readPacketTokens(text).filter(
      ({ role, key }) => role === 'value' && (key === 'return' || key === 'actor'),
    );
    return { agents: agents.map((token) => token.text.trim()), operations: [], ids: [], references: [] };
  },
};

const COLORS: Readonly<Partial<Record<PacketToken['role'], TokenType>>> = {
  task: 'keyword',
  domain: 'namespace',
  key: 'property',
  value: 'string',
};

function valueType({ role, text, key }: PacketToken): TokenType | undefined {
  if (role !== 'value') return undefined;
  if (/^-?\d+(?:\.\d+)?$/.test(text)) return 'number';
  return key !== undefined && Object.hasOwn(VALUES, key) && Object.hasOwn(VALUES[key]!, text)
    ? 'enumMember'
    : undefined;
}

function checkPacket(text: string, { profile, privateKeys }: MessageSettings): readonly Finding[] {
  const { errors, warnings } = validatePacket(text, { profile, privateKeys });
  const findings: Finding[] = [...errors, ...warnings].map((finding) => ({
    ...finding,
    span: finding.span ?? { start: 0, end: text.length },
  }));
  for (const advice of advise(text)) {
    findings.push({ ...advice, severity: 'information', span: advice.span ?? { start: 0, end: text.length } });
  }
  return findings.sort((a, b) => a.span.start - b.span.start);
}

function advise(text: string): ReturnType<typeof lintPacket> {
  try {
    return lintPacket(text);
  } catch (thrown) {
    // The validator reports the limit.
    if (thrown instanceof PegwireError) return [];
    throw thrown;
  }
}

function describe({ role, text, key }: PacketToken): string | null {
  const shown = asCode(text);
  switch (role) {
    case 'task': {
      const known = meaning(TASKS, text.trim());
      return `${shown}: ${known === undefined ? 'not a TASK of the draft' : asText(known)} (${DRAFT}, section 5.1).`;
    }
    case 'domain': {
      const known = meaning(DOMAINS, text.trim());
      return `${shown}: ${known === undefined ? 'not a DOM of the draft' : asText(known)} (${DRAFT}, section 5.2).`;
    }
    case 'key': {
      const name = lowerAscii(text.trim());
      if (!Object.hasOwn(FIELD_LABELS, name))
        return `${shown} is not a key of the draft: a private extension (${DRAFT}, section 13).`;
      return `${shown}: ${asText(labelOf(name))} (${DRAFT}, section ${CORE_KEYS.includes(name) ? '4.2' : '4.3'}).`;
    }
    case 'value': {
      const known = key !== undefined && Object.hasOwn(VALUES, key) ? meaning(VALUES[key]!, text) : undefined;
      return known === undefined || known === ''
        ? null
        : `${shown}: ${asText(known)} (${DRAFT}, section ${key === 'p' ? '5.3' : key === 'aacp' ? '4.2' : '4.3'}).`;
    }
    default:
      return null;
  }
}

/** Keys without a sentence of their own in explanations. */
const LABELS: Words = {
  aacp: 'Version of the protocol',
  ccy: 'Currency of the amount',
  highlight: 'Parts to highlight',
  att: 'Attachment',
  flag_msg: 'Message of the flag',
  ltv: 'Lifetime value',
  loyalty: 'Loyalty',
  urgency: 'Urgency',
};

function labelOf(key: string): string {
  return FIELD_LABELS[key] || LABELS[key] || key;
}

function named(words: Words, suffix?: string): readonly CompletionWord[] {
  return Object.entries(words).map(([word, detail]) => ({
    word,
    kind: suffix === undefined ? 'value' : 'keyword',
    detail,
    suffix,
  }));
}
