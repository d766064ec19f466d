/** A tab with an editor for messages, and what the library says about the one at the cursor. */
import type { Completion } from '@codemirror/autocomplete';
import type { StreamParser } from '@codemirror/language';
import type { Fix, MessageResult, Problem, Row } from '../analysis/result.js';
import { announce, card, columns, copyButton, emptyHint, fixButtons, h, select, tokenBars, treeView } from './dom.js';
import { Editor } from './editor.js';
import { firstState } from './examples.js';
import { type Context, type Tab, textOf } from './tab.js';

export interface MessageTabOptions {
  readonly tab: 'accp' | 'aacp';
  /** The name of a message: frame or packet. */
  readonly noun: string;
  readonly mode: StreamParser<unknown>;
  /** The dialects or profiles. */
  readonly choiceLabel: string;
  readonly choices: readonly (readonly [value: string, text: string])[];
  /** Ways to break a message, tried in turn. */
  readonly breaks: readonly ((text: string) => string)[];
  readonly completions: (before: string) => { readonly from: number; readonly words: readonly Completion[] } | null;
  readonly analyze: (context: Context, text: string, position: number, choice: string) => Promise<MessageResult>;
  /** The page of the documentation for a code. */
  readonly docs: (code: string) => string | null;
  /** A part below the editor. */
  readonly extra?: (context: Context, use: (text: string) => void) => HTMLElement;
}

/** Creates the tab. */
export function createMessageTab(context: Context, options: MessageTabOptions): Tab {
  const initial = firstState(options.tab);
  let result: MessageResult | null = null;
  let broken = 0;
  const drawn = new Map<HTMLElement, string>();

  /** Draws what has changed only, so that the focus stays where it is. */
  function draw(target: HTMLElement, data: unknown, nodes: () => readonly Node[]): void {
    const json = JSON.stringify(data);
    if (drawn.get(target) === json) return;
    drawn.set(target, json);
    target.replaceChildren(...nodes());
  }

  const choice = select(options.choiceLabel, options.choices, () => refresh());
  const breakButton = h('button', { type: 'button', click: () => breakIt() }, 'Break it');
  const problems = h('ul', { class: 'problems', 'aria-label': 'Problems', 'aria-live': 'polite' });
  const lines = h('p', { class: 'hint' });
  const english = h('p', { class: 'english' });
  const canonical = h('code');
  const isCanonical = h('p', { class: 'hint' });
  const tokens = h('div');
  const tree = h('div', { class: 'scroll' });
  const results = [
    card('In plain English', english),
    card(
      'Canonical form',
      copyButton('the canonical form', () => canonical.textContent),
      h('pre', { tabindex: 0 }, canonical),
      isCanonical,
    ),
    card('Tokens', tokens),
    card('Tree', tree),
  ];
  const empty = emptyHint(`Type ${options.noun}s, one per line, or choose one of the examples.`, results);
  const host = h('div', { class: 'editor' });
  const editor = new Editor(host, {
    label: `${options.noun}s, one per line`,
    text: textOf(initial['text'], ''),
    mode: options.mode,
    completions: options.completions,
    onChange: () => refresh(),
    onFix: take,
    hover: (position) => {
      const row = rowAt(position);
      if (row === undefined) return null;
      const text = [row.label, row.note && `${row.note}`, row.kind].filter(Boolean).join(' — ');
      return { from: row.from, to: row.to, text };
    },
  });
  choice.input.value = textOf(initial['choice'], options.choices[0]![0]);

  let frame = 0;
  /** Asks for a new analysis, at most once for each frame of the screen. */
  function refresh(): void {
    cancelAnimationFrame(frame);
    frame = requestAnimationFrame(() => context.client.latest(options.tab, analyze, fail));
  }

  async function analyze(): Promise<void> {
    const { text, position } = editor;
    const found = await options.analyze(context, text, position, choice.input.value);
    // A newer analysis is on its way.
    if (editor.view.state.doc.length !== text.length) return;
    result = found;
    render(found);
  }

  function fail(message: string): void {
    drawn.delete(problems);
    problems.replaceChildren(h('li', { class: 'error' }, message));
  }

  function render(found: MessageResult): void {
    editor.show(found.problems);
    draw(problems, found.problems, () => found.problems.slice(0, 20).map(problemItem));
    const valid = found.problems.length === 0;
    lines.textContent = [
      valid && found.checked > 0
        ? `${found.checked === 1 ? `The ${options.noun} is` : `All ${found.checked} ${options.noun}s are`} valid.`
        : '',
      found.lines > found.checked && found.checked >= 200
        ? `Only the first ${found.checked} of ${found.lines} lines are checked.`
        : '',
    ].join(' ');
    // Without a tree, the results of the last valid text remain, and are marked as old.
    element.classList.toggle('old', found.english === null);
    if (found.checked === 0 || found.english !== null) empty.show(found.checked === 0);
    tokens.replaceChildren(tokenBars(found.tokens));
    if (found.english === null) return;
    english.textContent = found.english;
    canonical.textContent = found.canonical ?? '';
    const line = editor.view.state.doc.lineAt(Math.min(found.start, editor.view.state.doc.length)).text;
    isCanonical.textContent =
      found.canonical === null
        ? `This ${options.noun} has none until its errors are fixed.`
        : found.canonical === line
          ? 'The text is in canonical form.'
          : 'The text differs from it.';
    draw(tree, [found.rows, found.more], () => [
      treeView(found.rows, found.more, {
        hover: (row) => editor.mark(row),
        choose: ({ from, to }) => editor.select(from, to),
      }),
    ]);
  }

  function problemItem(problem: Problem): HTMLElement {
    const { severity, code, message, help, fixes } = problem;
    const page = options.docs(code);
    const name =
      page === null
        ? h('span', { class: 'code' }, code)
        : h('a', { class: 'code', href: page, target: '_blank', rel: 'noopener' }, code);
    return h(
      'li',
      { class: severity },
      h(
        'p',
        {},
        h('strong', {}, severity),
        ' ',
        name,
        ' ',
        h(
          'button',
          { type: 'button', class: 'place', click: () => editor.select(problem.from, problem.to) },
          placeOf(problem.from),
        ),
        ' ',
        message,
      ),
      help === undefined ? null : h('p', { class: 'help' }, `Help: ${help}`),
      fixButtons(fixes, take),
    );
  }

  function placeOf(from: number): string {
    const { doc } = editor.view.state;
    const line = doc.lineAt(Math.min(from, doc.length));
    return `${line.number}:${from - line.from + 1}`;
  }

  function take(fix: Fix): void {
    if (fix.dialect !== undefined) {
      choice.input.value = fix.dialect;
      refresh();
    } else editor.apply(fix);
    announce(`${fix.label}: done`);
  }

  function breakIt(): void {
    const { doc } = editor.view.state;
    const line = doc.lineAt(editor.position);
    const text = options.breaks[broken++ % options.breaks.length]!(line.text);
    editor.view.dispatch({ changes: { from: line.from, to: line.to, insert: text }, selection: { anchor: line.from } });
  }

  function replaceLine(text: string): void {
    editor.replace(text);
    editor.view.focus();
  }

  /** The smallest node at a position. */
  function rowAt(position: number): Row | undefined {
    return result?.rows
      .filter(({ from, to, depth }) => depth > 0 && position >= from && position <= to)
      .sort((a, b) => a.to - a.from - (b.to - b.from))[0];
  }

  const element = columns(
    [
      h('div', { class: 'toolbar' }, choice.element, breakButton),
      host,
      problems,
      lines,
      options.extra?.(context, (text) => replaceLine(text)) ?? null,
    ],
    [empty.element, ...results],
  );
  context.onTokens(refresh);
  refresh();
  return {
    element,
    save: () => ({ text: editor.text, choice: choice.input.value }),
    restore: (state) => {
      const saved = textOf(state['choice'], '');
      if (options.choices.some(([value]) => value === saved)) choice.input.value = saved;
      editor.replace(textOf(state['text'], ''));
      refresh();
    },
  };
}
