/** Elements. Texts become text nodes, so that no input is read as HTML. */
import type { Count, Counted, Fix, Row } from '../analysis/result.js';

type Child = Node | string | null;
type Properties = Readonly<Record<string, string | boolean | number | null | ((event: Event) => void)>>;

/** Creates an element. Functions are listeners, `true` is an empty attribute, `false` and null are none. */
export function h<Tag extends keyof HTMLElementTagNameMap>(
  tag: Tag,
  properties: Properties = {},
  ...children: readonly Child[]
): HTMLElementTagNameMap[Tag] {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (typeof value === 'function') element.addEventListener(name, value);
    else if (value !== false && value !== null) element.setAttribute(name, value === true ? '' : String(value));
  }
  element.append(...children.filter((child) => child !== null));
  return element;
}

/** Creates an element of SVG. */
export function svg(
  tag: string,
  attributes: Readonly<Record<string, string | number>>,
  ...children: readonly Child[]
): SVGElement {
  const element = document.createElementNS('http://www.w3.org/2000/svg', tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, String(value));
  element.append(...children.filter((child) => child !== null));
  return element;
}

let ids = 0;

/** Creates a labelled list of choices. */
export function select(
  label: string,
  choices: readonly (readonly [value: string, text: string])[],
  onChange: (value: string) => void,
): { readonly element: HTMLElement; readonly input: HTMLSelectElement } {
  const id = `field-${++ids}`;
  const input = h('select', { id, change: () => onChange(input.value) });
  for (const [value, text] of choices) input.append(h('option', { value }, text));
  return { element: h('span', { class: 'field' }, h('label', { for: id }, label), input), input };
}

/** Creates a section with a heading. */
export function card(title: string, ...children: readonly Child[]): HTMLElement {
  const id = `card-${++ids}`;
  return h('section', { class: 'card', 'aria-labelledby': id }, h('h2', { id }, title), ...children);
}

/** Creates a hint that replaces the results of an editor while that is empty. */
export function emptyHint(
  text: string,
  results: readonly HTMLElement[],
): { readonly element: HTMLElement; readonly show: (isEmpty: boolean) => void } {
  const element = h('p', { class: 'hint', hidden: true }, text);
  const show = (isEmpty: boolean): void => {
    element.hidden = !isEmpty;
    for (const result of results) result.hidden = isEmpty;
  };
  return { element, show };
}

/** Creates the layout of a tab: editors on the left, results on the right. */
export function columns(left: readonly Child[], right: readonly Child[]): HTMLElement {
  return h('div', { class: 'columns' }, h('div', { class: 'pane' }, ...left), h('div', { class: 'pane' }, ...right));
}

/** Creates a button that copies a text. */
export function copyButton(what: string, text: () => string): HTMLButtonElement {
  const button = h('button', { type: 'button', class: 'quiet', 'aria-label': `Copy ${what}` }, 'Copy');
  button.addEventListener('click', () => {
    void navigator.clipboard.writeText(text()).then(
      () => flash(button, 'Copied'),
      () => flash(button, 'Not allowed'),
    );
  });
  return button;
}

/** Shows another text on a button for a moment. */
export function flash(button: HTMLButtonElement, text: string): void {
  const before = button.dataset['text'] ?? button.textContent;
  button.dataset['text'] = before;
  button.textContent = text;
  setTimeout(() => {
    button.textContent = before;
  }, 1_500);
}

/** Announces a text to screen readers, and shows it at the bottom of the page. */
export function announce(text: string): void {
  const status = document.querySelector('#status')!;
  status.textContent = text;
  status.classList.add('shown');
  setTimeout(() => status.classList.remove('shown'), 2_500);
}

/** Creates the buttons that take fixes; null if there are none. */
export function fixButtons(fixes: readonly Fix[], take: (fix: Fix) => void): HTMLElement | null {
  if (fixes.length === 0) return null;
  const buttons = fixes.map((fix) =>
    h('button', { type: 'button', class: 'fix', click: () => take(fix) }, `Fix: ${fix.label}`),
  );
  return h('p', { class: 'fixes' }, ...buttons);
}

/** Draws token counts as bars; the first is the text of the editor, and those above it are marked. */
export function tokenBars({ counts, exact, encoding }: Counted): HTMLElement {
  const most = Math.max(1, ...counts.map(({ tokens }) => tokens));
  const own = counts[0]?.tokens ?? 0;
  const bars = counts.map(({ label, tokens }, index) =>
    barOf(label, tokens, most, index === 0 ? 'own' : tokens < own ? 'less' : 'other'),
  );
  const source = counts.length === 0 ? 'The text is too long to count.' : exact ? `${encoding}, exact` : 'Estimates';
  return h('div', {}, h('div', { class: 'bars' }, ...bars), h('p', { class: 'hint' }, source));
}

function barOf(label: Count['label'], tokens: number, most: number, kind: string): HTMLElement {
  const bar = h('span', { class: `bar ${kind}` });
  bar.style.width = `${(100 * tokens) / most}%`;
  return h(
    'div',
    { class: 'count' },
    h('span', { class: 'name' }, label),
    h('span', { class: 'track' }, bar),
    h('span', { class: 'number' }, String(tokens)),
  );
}

/** The reactions of a tree. */
export interface TreeActions {
  /** A node is pointed at, or none. */
  readonly hover: (row: Row | null) => void;
  readonly choose: (row: Row) => void;
}

/** Draws a tree. It is one stop of the Tab key; the arrow keys move inside of it. */
export function treeView(rows: readonly Row[], more: number, { hover, choose }: TreeActions): HTMLElement {
  const items = rows.map((row) => {
    const item = h(
      'li',
      { role: 'treeitem', 'aria-level': row.depth + 1, 'aria-selected': 'false', tabindex: -1 },
      h('span', { class: 'label' }, row.label),
      row.value === '' ? null : h('span', { class: `value ${row.kind}` }, row.value),
      row.note === '' ? null : h('span', { class: 'note' }, row.note),
    );
    item.style.setProperty('--depth', String(row.depth));
    item.addEventListener('pointerenter', () => hover(row));
    item.addEventListener('focus', () => hover(row));
    item.addEventListener('click', () => choose(row));
    return item;
  });
  items[0]?.setAttribute('tabindex', '0');
  const tree = h('ul', { role: 'tree', 'aria-label': 'Syntax tree', class: 'tree' }, ...items);
  tree.addEventListener('pointerleave', () => hover(null));
  tree.addEventListener('focusout', () => hover(null));
  tree.addEventListener('keydown', (event) => {
    const index = items.indexOf(document.activeElement as HTMLLIElement);
    if (index < 0) return;
    const steps: Readonly<Record<string, number>> = {
      ArrowDown: index + 1,
      ArrowUp: index - 1,
      Home: 0,
      End: items.length - 1,
    };
    if (event.key === 'Enter' || event.key === ' ') {
      event.preventDefault();
      choose(rows[index]!);
    }
    const target = items[steps[event.key] ?? -1];
    if (target === undefined) return;
    event.preventDefault();
    items[index]!.tabIndex = -1;
    target.tabIndex = 0;
    target.focus();
  });
  return more === 0 ? tree : h('div', {}, tree, h('p', { class: 'hint' }, `${more} more nodes`));
}
