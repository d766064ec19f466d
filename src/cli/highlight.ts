/** Messages in colour, from the same token tables that the finders use. */
import moo from 'moo';
import { packetTokens } from '../../grammar/aacp.tokens.js';
import { frameTokens } from '../../grammar/accp.tokens.js';
import { visible } from '../text/visible.js';
import type { Output, Style } from './output.js';

const LEXERS = {
  accp: () => moo.compile(frameTokens),
  aacp: () => moo.states(packetTokens, 'start'),
};

const STYLES: Readonly<Record<string, Style>> = {
  agent: ['cyan', 'bold'],
  intent: 'magenta',
  operation: 'blue',
  mention: 'cyan',
  ref: 'yellow',
  key: 'blue',
  number: 'green',
  boolean: 'green',
  null: 'green',
  escape: 'yellow',
  open: 'dim',
  close: 'dim',
  separator: 'dim',
  colon: 'dim',
  invalid: ['red', 'inverse'],
  task: ['cyan', 'bold'],
  domain: 'magenta',
};

/** One line of a protocol in colour, with nothing invisible left in it. Text that is no message is coloured as far as it goes. */
export function highlight(protocol: 'accp' | 'aacp', text: string, paint: Output['paint']): string {
  let colored = '';
  for (const { type, text: piece } of LEXERS[protocol]().reset(text)) {
    const style = type === undefined ? undefined : STYLES[type];
    colored += style === undefined ? visible(piece) : paint(style, visible(piece));
  }
  return colored;
}
