/** The envelope that a frame carries, under the full names of its fields. */

import { ENVELOPE_FIELDS } from '../../accp/message/abbreviations.js';
import { parseFrameEnvelope } from '../../accp/parse.js';
import { sourceText } from '../../accp/session/envelope.js';

export function envelopeOf(frame: string): Readonly<Record<string, string | number>> {
  const envelope: Record<string, string | number> = {};
  for (const { key, value } of parseFrameEnvelope(frame).metadata ?? []) {
    const isNumber = key === 'seq' || key === 'ts' || key === 'ttl';
    const text = sourceText(value) ?? '';
    envelope[ENVELOPE_FIELDS.expand(key)] = isNumber ? Number(text) : text;
  }
  return envelope;
}
