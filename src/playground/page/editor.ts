/** The text editor: CodeMirror with the exported grammars, and with the problems of the library. */
import type { Completion, CompletionSource } from '@codemirror/autocomplete';
import { defaultKeymap, history, historyKeymap } from '@codemirror/commands';
import { bracketMatching, StreamLanguage, type StreamParser, syntaxHighlighting } from '@codemirror/language';
import { type Action, type Diagnostic, lintKeymap, setDiagnostics } from '@codemirror/lint';
import { Compartment, EditorState, type Extension, StateEffect, StateField } from '@codemirror/state';
import {
  Decoration,
  type DecorationSet,
  drawSelection,
  EditorView,
  highlightSpecialChars,
  hoverTooltip,
  keymap,
  lineNumbers,
} from '@codemirror/view';
import { classHighlighter } from '@lezer/highlight';
import type { Fix, Problem } from '../analysis/result.js';

export interface EditorOptions {
  readonly label: string;
  readonly text: string;
  readonly mode?: StreamParser<unknown>;
  readonly lineNumbers?: boolean;
  /** Called after the text or the position of the cursor has changed. */
  readonly onChange?: (isText: boolean) => void;
  readonly onFix?: (fix: Fix) => void;
  /** The words that can stand at a position, with the start of the word. */
  readonly completions?: (before: string) => { readonly from: number; readonly words: readonly Completion[] } | null;
  /** The text for the place under the pointer. */
  readonly hover?: (position: number) => { readonly from: number; readonly to: number; readonly text: string } | null;
}

/** Part of the content security policy: the editor writes its style sheet with it. */
const STYLE_NONCE = 'pegwire-editor';

/** The longest text that is underlined. */
const MAX_UNDERLINE = 2_000;

const markEffect = StateEffect.define<{ readonly from: number; readonly to: number } | null>();
const mark = Decoration.mark({ class: 'cm-marked' });
const marked = StateField.define<DecorationSet>({
  create: () => Decoration.none,
  update: (set, transaction) => {
    for (const effect of transaction.effects) {
      if (!effect.is(markEffect)) continue;
      const range = effect.value;
      return range === null || range.from >= range.to
        ? Decoration.none
        : Decoration.set(mark.range(range.from, range.to));
    }
    return transaction.docChanged ? Decoration.none : set;
  },
  provide: (field) => EditorView.decorations.from(field),
});

/** An editor in the page. */
export class Editor {
  readonly view: EditorView;
  readonly #options: EditorOptions;
  readonly #completing = new Compartment();

  constructor(parent: HTMLElement, options: EditorOptions) {
    this.#options = options;
    this.view = new EditorView({ parent, state: this.#stateOf(options.text) });
    this.view.contentDOM.addEventListener('focus', () => void this.#complete(), { once: true });
  }

  /** Loads the completion, which is not a part of the first load. */
  async #complete(): Promise<void> {
    const { completions } = this.#options;
    if (completions === undefined) return;
    const { completion } = await import('./completion.js');
    const source: CompletionSource = ({ state, pos }) => {
      const line = state.doc.lineAt(pos);
      const before = line.text.slice(0, pos - line.from);
      const found = before.length > MAX_UNDERLINE ? null : completions(before);
      return found === null ? null : { from: line.from + found.from, options: [...found.words] };
    };
    this.view.dispatch({ effects: this.#completing.reconfigure(completion(source)) });
  }

  #stateOf(text: string): EditorState {
    const { label, mode, hover, onChange, lineNumbers: numbered } = this.#options;
    const extensions: Extension[] = [
      EditorView.cspNonce.of(STYLE_NONCE),
      highlightSpecialChars(),
      history(),
      drawSelection(),
      bracketMatching(),
      syntaxHighlighting(classHighlighter),
      EditorView.lineWrapping,
      EditorView.contentAttributes.of({
        'aria-label': label,
        tabindex: '0',
        spellcheck: 'false',
        autocapitalize: 'off',
        autocorrect: 'off',
      }),
      marked,
      keymap.of([...defaultKeymap, ...historyKeymap, ...lintKeymap]),
      EditorView.updateListener.of((update) => {
        if (update.docChanged || update.selectionSet) onChange?.(update.docChanged);
      }),
    ];
    if (numbered) extensions.push(lineNumbers());
    if (mode !== undefined) extensions.push(StreamLanguage.define(mode));
    extensions.push(this.#completing.of([]));
    if (hover !== undefined) {
      extensions.push(
        hoverTooltip((_view, position) => {
          const found = hover(position);
          if (found === null) return null;
          const dom = document.createElement('div');
          dom.className = 'cm-meaning';
          dom.textContent = found.text;
          return { pos: found.from, end: found.to, create: () => ({ dom }) };
        }),
      );
    }
    return EditorState.create({ doc: text, extensions });
  }

  get text(): string {
    return this.view.state.doc.toString();
  }

  get position(): number {
    return this.view.state.selection.main.head;
  }

  /** Replaces the whole text. */
  replace(text: string): void {
    this.view.dispatch({
      changes: { from: 0, to: this.view.state.doc.length, insert: text },
      selection: { anchor: 0 },
    });
  }

  /** Applies a fix, and leaves the cursor behind it. */
  apply({ edit }: Fix): void {
    if (edit === undefined) return;
    const { from, to, insert } = edit;
    if (to > this.view.state.doc.length) return;
    this.view.dispatch({
      changes: { from, to, insert },
      selection: { anchor: from + insert.length },
      userEvent: 'input.fix',
    });
    this.view.focus();
  }

  select(from: number, to: number): void {
    const most = this.view.state.doc.length;
    this.view.dispatch({ selection: { anchor: Math.min(from, most), head: Math.min(to, most) }, scrollIntoView: true });
    this.view.focus();
  }

  /** Marks a range, or none. */
  mark(range: { readonly from: number; readonly to: number } | null): void {
    const most = this.view.state.doc.length;
    this.view.dispatch({ effects: markEffect.of(range === null || range.to > most ? null : range) });
  }

  /** Underlines the problems. Their fixes are buttons of the tooltip. */
  show(problems: readonly Problem[]): void {
    const most = this.view.state.doc.length;
    const diagnostics = problems.map(({ from, to, severity, message, help, fixes }): Diagnostic => {
      // An empty place is shown by the character before it.
      const isEmpty = from >= to;
      const start = Math.min(isEmpty && from === most ? Math.max(0, from - 1) : from, most);
      const end = Math.min(isEmpty ? start + 1 : Math.min(to, from + MAX_UNDERLINE), most);
      const actions = fixes.map((fix): Action => ({ name: fix.label, apply: () => this.#options.onFix?.(fix) }));
      return {
        from: start,
        to: end,
        severity,
        message: help === undefined ? message : `${message}\nhelp: ${help}`,
        actions,
      };
    });
    this.view.dispatch(setDiagnostics(this.view.state, diagnostics));
  }
}
