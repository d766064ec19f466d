/** The tab for any Peggy grammar. Its code runs in a sandboxed frame. */
import { peg } from 'virtual:modes';
import type { Problem } from '../analysis/result.js';
import type { ExportResult, GrammarResult, SpeedResult } from '../sandbox/grammar.js';
import { card, columns, copyButton, emptyHint, fixButtons, h, select, treeView } from './dom.js';
import { Editor } from './editor.js';
import { firstState } from './examples.js';
import { sandbox } from './sandbox.js';
import { type CreateTab, textOf } from './tab.js';

const FORMATS = [
  ['railroad', 'Railroad diagram'],
  ['gbnf', 'GBNF (llama.cpp, XGrammar)'],
  ['lark', 'Lark (Lark, llguidance)'],
  ['regex', 'Regular expression'],
  ['abnf', 'ABNF (RFC 5234)'],
  ['textmate', 'TextMate grammar'],
] as const;

const NO_RESULT: GrammarResult = {
  ...{ grammarProblems: [], textProblems: [], rows: [], more: 0, value: null },
  ...{ sentences: [], noSentences: null, coverage: [] },
};

export const createTab: CreateTab = () => {
  const initial = firstState('grammar');
  const client = sandbox();
  let seed = 1;
  const grammarHost = h('div', { class: 'editor' });
  const textHost = h('div', { class: 'editor small' });
  const problems = h('ul', { class: 'problems', 'aria-label': 'Problems', 'aria-live': 'polite' });
  const tree = h('div', { class: 'scroll' });
  const value = h('pre', { tabindex: 0 });
  const sentences = h('ul', { class: 'tree scroll' });
  const coverage = h('tbody');
  const exported = h('div', {}, h('p', { class: 'hint' }, 'Choose a format.'));
  const speed = h(
    'p',
    { class: 'hint' },
    'Parses the text repeatedly, with the parser of Peggy and with that of the plugin.',
  );
  const speedButton = h('button', { type: 'button', click: () => void measure() }, 'Measure');
  const format = select('Format', FORMATS, () => exportIt());
  const breakButton = h('button', { type: 'button', click: () => text.replace(`${text.text})`) }, 'Break it');
  const again = h(
    'button',
    {
      type: 'button',
      click: () => {
        seed++;
        refresh();
      },
    },
    'Other sentences',
  );

  const grammar = new Editor(grammarHost, {
    label: 'Peggy grammar',
    text: textOf(initial['grammar'], ''),
    mode: peg,
    lineNumbers: true,
    onChange: (isText) => isText && refresh(),
  });
  const text = new Editor(textHost, {
    label: 'Text',
    text: textOf(initial['text'], ''),
    onChange: (isText) => isText && refresh(),
    onFix: (fix) => text.apply(fix),
  });

  const inputOf = () => ({ grammar: grammar.text, text: text.text, seed, format: format.input.value });

  function refresh(): void {
    // The export does not execute the grammar, and so ends.
    exportIt();
    client.latest(
      'describe',
      async () => render((await client.call('describe', inputOf())) as GrammarResult),
      (message) => {
        render(NO_RESULT);
        problems.replaceChildren(h('li', { class: 'error' }, message));
      },
    );
  }

  function render(found: GrammarResult): void {
    empty.show(grammar.text.trim() === '');
    grammar.show(found.grammarProblems);
    text.show(found.textProblems);
    problems.replaceChildren(
      ...found.grammarProblems.map((one) => item(one, 'grammar', grammar)),
      ...found.textProblems.map((one) => item(one, 'text', text)),
    );
    tree.replaceChildren(
      found.rows.length === 0
        ? h('p', { class: 'hint' }, 'No tree until the text is valid.')
        : treeView(found.rows, found.more, {
            hover: (row) => text.mark(row),
            choose: ({ from, to }) => text.select(from, to),
          }),
    );
    value.textContent = found.value ?? '';
    sentences.replaceChildren(
      ...found.sentences.map((one) =>
        h(
          'li',
          {},
          h(
            'button',
            {
              type: 'button',
              class: 'quiet',
              'aria-label': `Use the sentence ${JSON.stringify(one)}`,
              click: () => text.replace(one),
            },
            'Use',
          ),
          ` ${JSON.stringify(one)}`,
        ),
      ),
    );
    if (found.noSentences !== null) sentences.replaceChildren(h('li', { class: 'error' }, found.noSentences));
    coverage.replaceChildren(
      ...found.coverage.map(({ name, hits, covered, total }) =>
        h('tr', {}, ...[name, String(hits), `${covered} of ${total}`].map((cell) => h('td', {}, cell))),
      ),
    );
  }

  function item({ message, help, from, to, fixes }: Problem, where: string, editor: Editor): HTMLElement {
    const line = editor.view.state.doc.lineAt(Math.min(from, editor.view.state.doc.length));
    return h(
      'li',
      { class: 'error' },
      h('strong', {}, `error in the ${where}`),
      ' ',
      h(
        'button',
        { type: 'button', class: 'place', click: () => editor.select(from, to) },
        `${line.number}:${from - line.from + 1}`,
      ),
      ' ',
      message,
      help === undefined ? null : h('p', { class: 'help' }, `Help: ${help}`),
      fixButtons(fixes, (fix) => editor.apply(fix)),
    );
  }

  function exportIt(): void {
    const run = async (): Promise<void> => {
      const { text: output, isPicture } = (await client.call('export', inputOf())) as ExportResult;
      if (isPicture) {
        const image = h('img', {
          alt: 'Railroad diagram of each rule',
          src: `data:image/svg+xml;charset=utf-8,${encodeURIComponent(output)}`,
        });
        exported.replaceChildren(
          h('div', { class: 'diagram', tabindex: 0, role: 'group', 'aria-label': 'Railroad diagram' }, image),
        );
      } else
        exported.replaceChildren(
          copyButton('the export', () => output),
          h('pre', { tabindex: 0 }, output),
        );
    };
    client.latest('export', run, (message) => exported.replaceChildren(h('p', { class: 'error' }, message)));
  }

  async function measure(): Promise<void> {
    speedButton.disabled = true;
    speed.textContent = 'Measuring…';
    try {
      const { plain, fast, notice } = (await client.call('speed', inputOf())) as SpeedResult;
      const shown = (rate: number): string => `${(rate / 1000).toFixed(1)} MB/s`;
      speed.textContent = `Peggy ${shown(plain)}, with the plugin ${shown(fast)}: ${(fast / plain).toFixed(1)} times as fast.${notice === null ? '' : ` The plugin leaves the grammar to Peggy: ${notice}`}`;
    } catch (thrown) {
      speed.textContent = (thrown as Error).message;
    }
    speedButton.disabled = false;
  }

  const heads = ['rule', 'matches', 'goals reached'].map((head) => h('th', { scope: 'col' }, head));
  const results = [
    card('Speed', speed, speedButton),
    card('Sentences', again, sentences),
    card('Tree', tree),
    card('Value', value),
    card('Export', h('div', { class: 'toolbar' }, format.element), exported),
    card('Coverage of the sentences', h('table', { class: 'data' }, h('thead', {}, h('tr', {}, ...heads)), coverage)),
  ];
  const empty = emptyHint('Type a grammar, or choose one of the examples.', results);
  refresh();
  return {
    element: columns(
      [h('div', { class: 'toolbar' }, breakButton), grammarHost, textHost, problems, ...results.slice(0, 2)],
      [empty.element, ...results.slice(2)],
    ),
    save: () => ({ grammar: grammar.text, text: text.text, format: format.input.value }),
    restore: (state) => {
      const name = textOf(state['format'], format.input.value);
      if (FORMATS.some(([one]) => one === name)) format.input.value = name;
      grammar.replace(textOf(state['grammar'], ''));
      text.replace(textOf(state['text'], ''));
      refresh();
    },
  };
};
