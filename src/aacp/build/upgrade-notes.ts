/** What an upgrade has to say. */
import type { Diagnostic } from '../../text/diagnostic.js';
import { ParseError } from '../../text/errors.js';
import type { Span } from '../../text/span.js';
import { MAX_FINDINGS, moreFindings } from '../codes.js';

/**
 * What an upgrade changed. `version`: the version became 1.1. `positional-value`: a value got the key of its slot.
 * `empty-slot`: an empty slot went. `bracket-form`: it was a packet of v0.1. `key-case`: a key had capitals. `not-valid`: what
 * came out is no valid packet of v1.1, since something is missing or wrong that no upgrade can know. `more-findings`: the last of a full list;
 * it counts the rest.
 */
export type UpgradeCode =
  | 'version'
  | 'positional-value'
  | 'empty-slot'
  | 'bracket-form'
  | 'key-case'
  | 'not-valid'
  | 'more-findings';

export type UpgradeNote = Diagnostic<UpgradeCode>;

/** The sections of draft-mackay-aacp-01 that ask for the changes. */
const SECTIONS: Readonly<Record<NotedCode, string>> = {
  version: '14',
  'positional-value': '4',
  'empty-slot': '4',
  'bracket-form': '4',
  'key-case': '4.2',
  'not-valid': '7',
};

type NotedCode = Exclude<UpgradeCode, 'more-findings'>;

export interface Notes {
  readonly add: (code: NotedCode, message: string, span?: Span | undefined, help?: string | undefined) => void;
  readonly has: (code: UpgradeCode) => boolean;
  /** In the order of the text; what is about no place comes last. */
  readonly all: () => readonly UpgradeNote[];
}

export function createNotes(): Notes {
  const notes: UpgradeNote[] = [];
  const codes = new Set<UpgradeCode>();
  let more = 0;
  const startOf = ({ span }: UpgradeNote): number => span?.start ?? Number.MAX_SAFE_INTEGER;
  return {
    add(code, message, span, help) {
      const note: UpgradeNote = { code, severity: 'warning', message, span: span ?? null, section: SECTIONS[code] };
      codes.add(code);
      // What keeps a packet from being valid is always listed: the validator lists 100 faults at most.
      if (notes.length >= MAX_FINDINGS && code !== 'not-valid') more++;
      else notes.push(help === undefined ? note : { ...note, help });
    },
    has: (code) => codes.has(code),
    all: () => {
      const sorted = [...notes].sort((a, b) => startOf(a) - startOf(b));
      return more === 0 ? sorted : [...sorted, moreFindings(more, 'warning')];
    },
  };
}

/** The error for a text that is no packet of an earlier version, or could be two. */
export function refused(
  text: string,
  code: string,
  message: string,
  span?: Span | undefined,
  help?: string,
): ParseError {
  return new ParseError({ code, reason: 'syntax', text, span: span ?? null, message, help });
}
