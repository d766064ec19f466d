/** The tab of ACCP frames. */
import { accp } from 'virtual:modes';
import type { Dialect } from '../../accp/parse.js';
import { frameCompletions } from './completions.js';
import { createMessageTab } from './message-tab.js';
import { type CreateTab, errorPage } from './tab.js';

/** Adds the unescaped mention that the examples of the draft contain. */
function withMention(text: string): string {
  const end = text.lastIndexOf('}[') < 0 ? text.lastIndexOf('}') : text.lastIndexOf('}[');
  if (end < 0) return `${text}{`;
  const separator = text[end - 1] === '{' ? '' : '|';
  return `${text.slice(0, end)}${separator}nx:@strategy:plan${text.slice(end)}`;
}

export const createTab: CreateTab = (context) =>
  createMessageTab(context, {
    tab: 'accp',
    noun: 'frame',
    mode: accp,
    choiceLabel: 'Dialect',
    choices: [
      ['strict', 'strict'],
      ['lenient', 'lenient'],
    ],
    breaks: [
      withMention,
      (text) => text.replace(/[\]}]$/, ''),
      (text) => text.replace(/\{([a-z_]+):/, '{$1:two words|$1:'),
      (text) => text.replace(/^@/, ''),
    ],
    completions: frameCompletions,
    analyze: ({ client }, text, position, choice) =>
      client.run('frames', { text, position, dialect: choice as Dialect }),
    docs: (code) => errorPage('parse-error', code),
  });
