/** The list of messages. Only the rows in view exist, so that 100,000 messages scroll smoothly. */
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { Message } from './message.js';

interface TimelineProps {
  readonly rows: readonly Message[];
  readonly selected: Message | undefined;
  /** If true, a row has two lines. */
  readonly isTall: boolean;
  /** If true, the last message stays in view. */
  readonly isFollowing: boolean;
  readonly onScrollUp: () => void;
  readonly onSelect: (message: Message) => void;
}

const SPARE_ROWS = 8;
const ARROWS = { client: '→', server: '←', log: '·' } as const;
const SIDES = { client: 'from the client', server: 'from the server', log: '' } as const;

export function Timeline({ rows, selected, isTall, isFollowing, onScrollUp, onSelect }: TimelineProps) {
  const list = useRef<HTMLDivElement>(null);
  const [{ top, height }, setView] = useState({ top: 0, height: 600 });
  const rowHeight = isTall ? 46 : 27;

  const look = (): void => {
    const element = list.current;
    if (element !== null) setView({ top: element.scrollTop, height: element.clientHeight });
  };
  useEffect(() => {
    const observer = new ResizeObserver(look);
    observer.observe(list.current!);
    return () => observer.disconnect();
  }, []);
  useLayoutEffect(() => {
    const element = list.current!;
    if (isFollowing) element.scrollTop = element.scrollHeight;
    look();
  }, [rows, isFollowing, rowHeight]);

  const at = selected === undefined ? -1 : rows.indexOf(selected);
  const move = (to: number): void => {
    const index = Math.min(Math.max(to, 0), rows.length - 1);
    const element = list.current!;
    const [from, until] = [index * rowHeight, (index + 1) * rowHeight];
    if (from < element.scrollTop) element.scrollTop = from;
    else if (until > element.scrollTop + element.clientHeight) element.scrollTop = until - element.clientHeight;
    const message = rows[index];
    if (message !== undefined) onSelect(message);
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    const page = Math.max(1, Math.floor(height / rowHeight) - 1);
    const steps: Readonly<Record<string, number>> = { ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page };
    const step = steps[event.key];
    if (step !== undefined) move(at < 0 ? rows.length - 1 : at + step);
    else if (event.key === 'Home') move(0);
    else if (event.key === 'End') move(rows.length - 1);
    else return;
    event.preventDefault();
  };

  const first = Math.max(0, Math.floor(top / rowHeight) - SPARE_ROWS);
  const last = Math.min(rows.length, Math.ceil((top + height) / rowHeight) + SPARE_ROWS);
  return (
    <div
      ref={list}
      class={`timeline ${isTall ? 'tall' : ''}`}
      role="listbox"
      tabIndex={0}
      aria-label="Timeline"
      aria-activedescendant={at >= first && at < last ? `row-${at}` : undefined}
      onScroll={look}
      onWheel={(event) => {
        if (event.deltaY < 0) onScrollUp();
      }}
      onKeyDown={onKeyDown}
    >
      <div class="rows" role="presentation" style={{ height: `${rows.length * rowHeight}px` }}>
        {rows.slice(first, last).map((message, offset) => (
          <Row
            key={message.record.n}
            message={message}
            index={first + offset}
            count={rows.length}
            isSelected={message === selected}
            rowHeight={rowHeight}
            onSelect={onSelect}
          />
        ))}
      </div>
      {rows.length === 0 && <p class="empty">No messages. They appear here as they are sent.</p>}
    </div>
  );
}

interface RowProps {
  readonly message: Message;
  readonly index: number;
  readonly count: number;
  readonly isSelected: boolean;
  readonly rowHeight: number;
  readonly onSelect: (message: Message) => void;
}

function Row({ message, index, count, isSelected, rowHeight, onSelect }: RowProps) {
  const { record, type, what, tone, error } = message;
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: the list handles the keys
    // biome-ignore lint/a11y/useFocusableInteractive: the list has the focus, and names the active row
    <div
      id={`row-${index}`}
      class={`row tone-${tone} ${error === undefined ? '' : 'invalid'} ${record.isOwn ? 'own' : ''}`}
      role="option"
      aria-selected={isSelected}
      aria-setsize={count}
      aria-posinset={index + 1}
      style={{ top: `${index * rowHeight}px`, height: `${rowHeight}px` }}
      onClick={() => onSelect(message)}
    >
      <time>{timeText(record.t) || `#${record.n}`}</time>
      <span class={`arrow ${record.side}`} aria-hidden="true">
        {ARROWS[record.side]}
      </span>
      <span class="hidden-text">{SIDES[record.side]}</span>
      <span class="session">{record.session.slice(-12)}</span>
      <span class="type">{type}</span>
      <span class="what">{what}</span>
    </div>
  );
}

/** Formats the time of the day with milliseconds; an empty string for an unknown time. */
export function timeText(t: number): string {
  const date = new Date(t);
  if (t <= 0 || Number.isNaN(date.getTime())) return '';
  const two = (value: number): string => String(value).padStart(2, '0');
  const milliseconds = String(date.getMilliseconds()).padStart(3, '0');
  return `${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}.${milliseconds}`;
}
