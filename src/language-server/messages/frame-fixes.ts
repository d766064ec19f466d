/** Quick fixes of frames. */

import { tryParseFrame } from '../../accp/index.js';
import { syntaxFixes } from '../../accp/language/fixes.js';
import { type Fix, helpfulFixes, suggestedWord } from '../../text/fix.js';
import { quotedShort } from '../../text/visible.js';
import type { Finding } from '../language.js';
import { checkFrame } from './frame-checks.js';
import type { MessageSettings } from './message-language.js';

export function frameFixes(text: string, finding: Finding, settings: MessageSettings): readonly Fix[] {
  return helpfulFixes(text, finding, candidatesOf(text, finding, settings), (one) => checkFrame(one, settings));
}

function candidatesOf(text: string, finding: Finding, { dialect }: MessageSettings): readonly Fix[] {
  const word = suggestedWord(finding);
  if (word !== undefined) return [{ title: `Replace with ${quotedShort(word)}`, span: finding.span, text: word }];
  const result = tryParseFrame(text, { dialect });
  return result.ok ? [] : syntaxFixes(text, result.error);
}
