/** The parts of a packet, or of a text that is about to become one. */
import { lowerAscii } from '../../aacp/vocabulary.js';
import type { Span } from '../../text/span.js';

export interface PacketToken extends Span {
  readonly role: 'task' | 'domain' | 'key' | 'value' | 'punctuation';
  readonly text: string;
  /** The key of the field in lower case; `undefined` outside fields. */
  readonly key: string | undefined;
}

/** Splits any text into the parts of a packet. Never fails: unlike the token table of the highlighters, it accepts empty slots. */
export function readPacketTokens(text: string): readonly PacketToken[] {
  const tokens: PacketToken[] = [];
  let at = 0;
  const add = (role: PacketToken['role'], token: string, key?: string): void => {
    if (token !== '') tokens.push({ role, text: token, start: at, end: at + token.length, key });
    at += token.length;
  };
  for (const [index, slot] of text.split('|').entries()) {
    if (index > 0) add('punctuation', '|');
    const colon = index < 2 ? -1 : slot.indexOf(':');
    if (index < 2) add(index === 0 ? 'task' : 'domain', slot);
    else if (colon < 0) add('key', slot, lowerAscii(slot.trim()));
    else {
      const key = lowerAscii(slot.slice(0, colon).trim());
      add('key', slot.slice(0, colon), key);
      add('punctuation', ':', key);
      add('value', slot.slice(colon + 1), key);
    }
  }
  return tokens;
}
