/** The tab that compares formats: JSON in, the same content in each format, and its tokens. */
import { json as jsonMode } from 'virtual:modes';
import type { Format, FormatsResult } from '../analysis/formats.js';
import type { Fix } from '../analysis/result.js';
import { card, columns, copyButton, emptyHint, fixButtons, h, select } from './dom.js';
import { Editor } from './editor.js';
import { firstState } from './examples.js';
import { type CreateTab, textOf } from './tab.js';

/** The tokenizers, with the models that use them. */
const ENCODINGS = [
  ['o200k_base', 'o200k_base (GPT-4o and later)'],
  ['cl100k_base', 'cl100k_base (GPT-4)'],
  ['p50k_base', 'p50k_base (Codex)'],
  ['r50k_base', 'r50k_base (GPT-3)'],
] as const;

export const createTab: CreateTab = ({ client, onTokens, loadTokens }) => {
  const asked = new Set<string>();
  const host = h('div', { class: 'editor' });
  const problem = h('ul', { class: 'problems', 'aria-label': 'Problems', 'aria-live': 'polite' });
  const bars = h('div', { class: 'bars' });
  const source = h('p', { class: 'hint' });
  const lost = h('p', { class: 'warning', role: 'status' });
  const texts = h('div', { class: 'formats' });
  const encoding = select('Tokenizer', ENCODINGS, () => refresh());
  const breakButton = h(
    'button',
    { type: 'button', click: () => editor.replace(editor.text.replace(/[}\]]\s*$/, '')) },
    'Break it',
  );
  const editor = new Editor(host, {
    label: 'JSON document',
    text: textOf(firstState('formats')['json'], ''),
    mode: jsonMode,
    lineNumbers: true,
    onChange: (isText) => {
      if (isText) refresh();
    },
    onFix: (fix) => editor.apply(fix),
  });

  function refresh(): void {
    const name = encoding.input.value;
    // The tables are large: each is loaded when it is chosen.
    if (!asked.has(name)) {
      asked.add(name);
      void loadTokens(name);
    }
    const run = async (): Promise<void> => {
      const json = editor.text;
      if (json.trim() !== '') render(await client.run('formats', { json, encoding: encoding.input.value }));
      else {
        clear();
        empty.show(true);
      }
    };
    client.latest('formats', run, (message) => problem.replaceChildren(h('li', { class: 'error' }, message)));
  }

  const results = [card('Tokens', lost, bars, source), texts];
  const empty = emptyHint('Type a JSON document, or choose one of the examples.', results);

  function clear(): void {
    editor.show([]);
    problem.replaceChildren();
  }

  function render({ formats, exact, encoding: name, loss, error }: FormatsResult): void {
    element.classList.toggle('stale', error !== null);
    if (error !== null) {
      const { message, from } = error;
      const fixes = fixesOf(editor.text, from);
      editor.show([{ from, to: from + 1, severity: 'error', code: 'json', message, fixes }]);
      problem.replaceChildren(
        h(
          'li',
          { class: 'error' },
          h('p', {}, h('strong', {}, 'error'), ' ', message),
          fixButtons(fixes, (fix) => editor.apply(fix)),
        ),
      );
      return;
    }
    clear();
    empty.show(false);
    lost.textContent = loss ?? '';
    const counted = formats.flatMap(({ tokens }) => (tokens === null ? [] : [tokens]));
    const [most, least] = [Math.max(1, ...counted), Math.min(...counted)];
    bars.replaceChildren(...formats.map((format) => barOf(format, most, least)));
    source.textContent = exact ? `Tokens in ${name}, exact` : `Estimates; the table of ${name} is not loaded`;
    texts.replaceChildren(...formats.map(textCard));
  }

  const element = columns(
    [
      h('div', { class: 'toolbar' }, encoding.element, breakButton),
      host,
      problem,
      h(
        'p',
        { class: 'hint' },
        'A document with intent, operation, payload, agent and schema only is a frame; any other is the payload of one.',
      ),
    ],
    [empty.element, ...results],
  );
  onTokens(refresh);
  refresh();
  return {
    element,
    save: () => ({ json: editor.text, encoding: encoding.input.value }),
    restore: (state) => {
      const name = textOf(state['encoding'], encoding.input.value);
      if (ENCODINGS.some(([value]) => value === name)) encoding.input.value = name;
      editor.replace(textOf(state['json'], ''));
      refresh();
    },
  };
};

function barOf({ name, tokens }: Format, most: number, least: number): HTMLElement {
  const bar = h('span', { class: tokens === least ? 'bar least' : 'bar' });
  bar.style.width = `${(100 * (tokens ?? 0)) / most}%`;
  return h(
    'div',
    { class: 'count' },
    h('span', { class: 'name' }, name),
    h('span', { class: 'track' }, bar),
    h('span', { class: 'number' }, tokens === null ? '–' : String(tokens)),
  );
}

function textCard({ name, description, text, reason, length }: Format): HTMLElement {
  const hint = h(
    'p',
    { class: 'hint' },
    reason === null ? `${description}; ${length} characters` : `Not possible: ${reason}`,
  );
  if (text === null) return card(name, hint);
  return card(
    name,
    copyButton(name, () => text),
    h('pre', { tabindex: 0 }, text),
    hint,
  );
}

/** The longest document that is parsed again for each fix. */
const MAX_FIXED = 100_000;

/** Returns the edits after which the document is JSON. */
function fixesOf(text: string, from: number): readonly Fix[] {
  if (text.length > MAX_FIXED) return [];
  const end = text.trimEnd().length;
  const closing = closingOf(text);
  const comma = text.lastIndexOf(',', from);
  const candidates = [
    { label: `Insert ${closing}`, edit: { from: end, to: end, insert: closing } },
    { label: 'Remove the comma', edit: { from: comma, to: comma + 1, insert: '' } },
    { label: 'Insert a comma', edit: { from, to: from, insert: ',' } },
    { label: `Remove "${text.slice(from, from + 1)}"`, edit: { from, to: from + 1, insert: '' } },
  ];
  return candidates.filter(({ edit }) => {
    try {
      JSON.parse(text.slice(0, Math.max(0, edit.from)) + edit.insert + text.slice(edit.to));
      return true;
    } catch {
      return false;
    }
  });
}

/** Returns the brackets that are open at the end of a document; strings are skipped. */
function closingOf(text: string): string {
  const open: string[] = [];
  for (const [token] of text.matchAll(/"(?:[^"\\]|\\.)*"|[[\]{}]/gs)) {
    if (token === '{') open.push('}');
    else if (token === '[') open.push(']');
    else if (token === '}' || token === ']') open.pop();
  }
  return open.length > 100 ? '' : open.reverse().join('');
}
