/** What an upgrade has to say. */
import type { Diagnostic } from '../../text/diagnostic.js';
import { ParseError } from '../../text/errors.js';
import type { Span } from '../../text/span.js';

/**
 * What an upgrade changed. `version`: the version became 1.1. `positional-value`: a value got the key of its slot.
 * `empty-slot`: an empty slot went. `bracket-form`: it was a packet of v0.1. `key-case`: a key had capitals. `not-valid`: what
 * came out is no valid packet of v1.1, since something is missing or wrong that no upgrade can know.
 */
export type UpgradeCode = 'version' | 'positional-value' | 'empty-slot' | 'bracket-form' | 'key-case' | 'not-valid';

export type UpgradeNote = Diagnostic<UpgradeCode>;

/** The sections of draft-mackay-aacp-01 that ask for the changes. */
const SECTIONS: Readonly<Record<UpgradeCode, string>> = {
  version: '14',
  'positional-value': '4',
  'empty-slot': '4',
  'bracket-form': '4',
  'key-case': '4.2',
  'not-valid': '7',
};

export interface Notes {
  readonly add: (code: UpgradeCode, message: string, span?: Span | undefined, help?: string | undefined) => void;
  readonly has: (code: UpgradeCode) => boolean;
  /** In the order of the text; what is about no place comes last. */
  readonly all: () => readonly UpgradeNote[];
}

export function createNotes(): Notes {
  const notes: UpgradeNote[] = [];
  const startOf = ({ span }: UpgradeNote): number => span?.start ?? Number.MAX_SAFE_INTEGER;
  return {
    add(code, message, span, help) {
      const note: UpgradeNote = { code, severity: 'warning', message, span: span ?? null, section: SECTIONS[code] };
      notes.push(help === undefined ? note : { ...note, help });
    },
    has: (code) => notes.some((note) => note.code === code),
    all: () => [...notes].sort((a, b) => startOf(a) - startOf(b)),
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
