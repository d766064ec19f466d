/** A bar for work that takes longer than a second. */

/** Shows how much is done, out of `total`; with an unknown total, the amount only. @param detail follows what is done */
export type Bar = (done: number, total?: number, detail?: string) => void;

/** Formats an amount for a bar. */
export type Amount = (done: number, total: number | undefined) => string;

interface BarOptions {
  /** The columns of the terminal. */
  readonly columns: () => number;
  /** Shows a text in place of the last one. */
  readonly show: (text: string) => void;
  /** @default as a percentage, or as a number if the total is unknown */
  readonly amount?: Amount | undefined;
  /** Returns the time in milliseconds. @default performance.now */
  readonly now?: (() => number) | undefined;
}

/** Milliseconds until a bar appears, and between two changes of it. */
const DELAY_MS = 1000;
const INTERVAL_MS = 100;

/** The columns of the bar itself, and the least that are worth showing. */
const WIDTH = 20;
const MIN_WIDTH = 8;

/** Returns a bar: `Reading a.accp [########------------] 40 %, 3 s left`. */
export function createBar(what: string, { columns, show, amount = percentage, now = performanceNow }: BarOptions): Bar {
  const began = now();
  let next = began + DELAY_MS;
  return (done, total, detail = '') => {
    const at = now();
    if (at < next) return;
    next = at + INTERVAL_MS;
    const share = total === undefined || total <= 0 ? undefined : Math.min(done / total, 1);
    const left = share === undefined || share === 0 ? '' : `, ${duration(((at - began) / share) * (1 - share))} left`;
    const text = `${amount(done, total)}${left}${detail === '' ? '' : `, ${detail}`}`;
    // The last column stays free, since some terminals break the line there.
    const room = columns() - 1;
    const width = Math.min(WIDTH, room - what.length - text.length - ' [] '.length);
    const bar = share === undefined || width < MIN_WIDTH ? ' ' : ` [${drawn(share, width)}] `;
    show(`${what}${bar}${text}`.slice(0, Math.max(room, 0)));
  };
}

function performanceNow(): number {
  return performance.now();
}

function drawn(share: number, width: number): string {
  const filled = Math.round(share * width);
  return '#'.repeat(filled) + '-'.repeat(width - filled);
}

const percentage: Amount = (done, total) =>
  total === undefined || total <= 0 ? String(done) : `${Math.floor((100 * Math.min(done, total)) / total)} %`;

/** Shows an amount of bytes. */
export const bytesRead: Amount = (done, total) => (total === undefined ? megabytes(done) : percentage(done, total));

function megabytes(bytes: number): string {
  return `${(bytes / 1e6).toFixed(1)} MB`;
}

function duration(ms: number): string {
  const seconds = Math.ceil(ms / 1000);
  if (seconds < 100) return `${seconds} s`;
  const minutes = Math.ceil(seconds / 60);
  return minutes < 100 ? `${minutes} min` : `${Math.ceil(minutes / 60)} h`;
}
