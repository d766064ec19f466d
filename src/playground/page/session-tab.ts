/** The tab that simulates a session of two agents, and draws its frames. */
import { json as jsonMode } from 'virtual:modes';
import type { Arrow, SessionResult } from '../analysis/session.js';
import { card, columns, emptyHint, h, svg } from './dom.js';
import { Editor } from './editor.js';
import { firstState } from './examples.js';
import { type CreateTab, textOf } from './tab.js';

/** Sizes of the diagram, in its own units. */
const MIN_WIDTH = 340;
const MAX_WIDTH = 820;
const MARGIN = 60;
const TOP = 40;
const STEP = 46;
/** The width of a character of a label. */
const CHARACTER = 7;

export const createTab: CreateTab = ({ client }) => {
  const lost = new Set<number>();
  const repeated = new Set<number>();
  let drawn: Pick<SessionResult, 'agents' | 'arrows'> | null = null;
  const host = h('div', { class: 'editor small' });
  const table = h('tbody');
  const problem = h('ul', { class: 'problems', 'aria-label': 'Problems', 'aria-live': 'polite' });
  const compact = h('input', { type: 'checkbox', id: 'session-compact', change: () => refresh() });
  const drawing = h('div', { class: 'sequence' });
  const detail = h('div', { role: 'status' });
  const summary = h('p', { class: 'hint' });
  const sequence = card('Sequence', summary, drawing);
  const heads = ['Message', 'lose it', 'send twice'].map((text) => h('th', { scope: 'col' }, text));
  const frames = [
    card('On the line', h('table', { class: 'script' }, h('thead', {}, h('tr', {}, ...heads)), table)),
    card('Frame', detail),
  ];
  const empty = emptyHint('Type messages as JSON, one per line, or choose one of the examples.', [sequence, ...frames]);
  const breakButton = h('button', { type: 'button', click: breakIt }, 'Break it');
  const editor = new Editor(host, {
    label: 'Messages as JSON, one per line',
    text: '',
    mode: jsonMode,
    lineNumbers: true,
    onChange: (isText) => {
      if (isText) refresh();
    },
  });

  /** Loses the frame of the first line that arrives, or, if one is lost, none. */
  function breakIt(): void {
    if (lost.size > 0) lost.clear();
    else lost.add(1);
    refresh();
  }

  function refresh(): void {
    const run = async (): Promise<void> => {
      const script = editor.text;
      const input = { script, lost: [...lost], repeated: [...repeated], compact: compact.checked };
      render(script, await client.run('session', input));
    };
    client.latest('session', run, (message) => problem.replaceChildren(h('li', { class: 'error' }, message)));
  }

  function render(script: string, { agents, arrows, errors }: SessionResult): void {
    problem.replaceChildren(
      ...errors.slice(0, 10).map(({ line, message }) => h('li', { class: 'error' }, `Line ${line + 1}: ${message}`)),
    );
    const rows = script
      .split('\n')
      .slice(0, 40)
      .flatMap((text, number) => (text.trim() === '' ? [] : [rowOf(number)]));
    table.replaceChildren(...rows);
    empty.show(rows.length === 0);
    // The frame that was chosen may not exist any more.
    detail.replaceChildren(h('p', { class: 'hint' }, 'Choose a frame in the diagram to read it.'));
    drawn = { agents, arrows };
    draw();
    const count = (outcome: Arrow['outcome']): number => arrows.filter((arrow) => arrow.outcome === outcome).length;
    summary.textContent = `${arrows.length} frames: ${count('message')} accepted, ${count('rejected')} rejected, ${count('lost')} lost.`;
    breakButton.textContent = lost.size > 0 ? 'Lose nothing' : 'Break it';
  }

  /** Draws the last result in the width that there is. */
  function draw(): void {
    const width = Math.min(MAX_WIDTH, Math.max(MIN_WIDTH, drawing.clientWidth));
    if (drawn !== null) drawing.replaceChildren(diagram(width, drawn.agents, drawn.arrows, show));
  }

  function rowOf(number: number): HTMLElement {
    const box = (set: Set<number>, label: string) => {
      const input = h('input', {
        type: 'checkbox',
        'aria-label': `Line ${number + 1}: ${label}`,
        change: () => toggle(set, number),
      });
      input.checked = set.has(number);
      return h('td', {}, input);
    };
    return h(
      'tr',
      {},
      h('th', { scope: 'row' }, `Line ${number + 1}`),
      box(lost, 'lose the frame'),
      box(repeated, 'send the frame twice'),
    );
  }

  function toggle(set: Set<number>, number: number): void {
    if (!set.delete(number)) set.add(number);
    refresh();
  }

  function show({ from, to, frame, english, outcome, code, detail: text }: Arrow): void {
    detail.replaceChildren(
      h('pre', { tabindex: 0 }, frame),
      h('p', {}, english),
      h(
        'p',
        { class: outcome === 'rejected' || outcome === 'lost' ? 'error' : '' },
        outcome === 'lost'
          ? `${from} to ${to}: lost.`
          : `${to}: ${outcome}${code === null ? '' : ` with ${code}`}. ${text}`,
      ),
    );
  }

  function restore(state: Readonly<Record<string, unknown>>): void {
    for (const [set, value] of [
      [lost, state['lost']],
      [repeated, state['repeated']],
    ] as const) {
      set.clear();
      if (Array.isArray(value)) for (const number of value) if (Number.isInteger(number)) set.add(number as number);
    }
    compact.checked = state['compact'] === true;
    editor.replace(textOf(state['script'], ''));
    refresh();
  }

  restore(firstState('session'));
  let width = 0;
  new ResizeObserver(() => {
    if (drawing.clientWidth === width) return;
    width = drawing.clientWidth;
    draw();
  }).observe(drawing);
  return {
    element: columns(
      [
        h(
          'div',
          { class: 'toolbar' },
          h('span', { class: 'field' }, compact, h('label', { for: 'session-compact' }, 'Compact frames')),
          breakButton,
        ),
        host,
        problem,
        ...frames,
      ],
      [empty.element, sequence],
    ),
    save: () => ({ script: editor.text, lost: [...lost], repeated: [...repeated], compact: compact.checked }),
    restore,
  };
};

/** Draws each frame as an arrow between the lanes of the agents. */
function diagram(
  width: number,
  agents: readonly string[],
  arrows: readonly Arrow[],
  choose: (arrow: Arrow) => void,
): SVGElement {
  const lanesAt = [MARGIN, width - MARGIN] as const;
  const most = Math.floor((width - 2 * MARGIN) / CHARACTER);
  const height = TOP + arrows.length * STEP + 30;
  const lanes = agents.flatMap((agent, index) => [
    svg('line', { x1: lanesAt[index]!, x2: lanesAt[index]!, y1: TOP - 10, y2: height - 10 }),
    svg('text', { x: lanesAt[index]!, y: 20, 'text-anchor': 'middle', 'font-weight': 700 }, agent.slice(0, 24)),
  ]);
  const drawn = arrows.map((arrow, index) => {
    const left = agents.indexOf(arrow.from) === 0;
    const y = TOP + 18 + index * STEP;
    const [start, end] = left ? lanesAt : [lanesAt[1], lanesAt[0]];
    const reach = arrow.outcome === 'lost' ? (start + end) / 2 : end;
    const tip = left ? -8 : 8;
    const head =
      arrow.outcome === 'lost'
        ? `M${reach - 6} ${y - 6} l12 12 m0 -12 l-12 12`
        : `M${reach + tip} ${y - 5} L${reach} ${y} L${reach + tip} ${y + 5}`;
    const label = arrow.frame.length > most ? `${arrow.frame.slice(0, most)}…` : arrow.frame;
    const note = arrow.outcome === 'message' ? '' : (arrow.code ?? arrow.outcome);
    const group = svg(
      'g',
      {
        role: 'button',
        tabindex: 0,
        'aria-label': `${label} ${note}, from ${arrow.from} to ${arrow.to}, ${arrow.outcome}`,
      },
      svg('rect', { x: lanesAt[0], y: y - 20, width: lanesAt[1] - lanesAt[0], height: 34, fill: 'transparent' }),
      svg('text', { x: width / 2, y: y - 7, 'text-anchor': 'middle', 'font-size': 11.5 }, label),
      svg('line', { x1: start, x2: reach, y1: y, y2: y, class: arrow.outcome, 'stroke-width': 1.6 }),
      svg('path', { d: head, class: arrow.outcome, 'stroke-width': 1.6, 'stroke-dasharray': 'none' }),
      note === ''
        ? null
        : svg(
            'text',
            { x: left ? width - 6 : 6, y: y + 4, 'text-anchor': left ? 'end' : 'start', class: arrow.outcome },
            note,
          ),
    );
    const activate = (): void => {
      for (const other of group.parentElement?.querySelectorAll('.chosen') ?? []) other.classList.remove('chosen');
      group.classList.add('chosen');
      choose(arrow);
    };
    group.addEventListener('click', activate);
    group.addEventListener('keydown', (event) => {
      const { key } = event as KeyboardEvent;
      if (key !== 'Enter' && key !== ' ') return;
      event.preventDefault();
      activate();
    });
    return group;
  });
  return svg(
    'svg',
    { viewBox: `0 0 ${width} ${height}`, role: 'group', 'aria-label': 'Sequence diagram' },
    ...lanes,
    ...drawn,
  );
}
