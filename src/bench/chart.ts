/** Charts as SVG that suit light and dark pages. */
import type { RaceSection } from './result.js';
import { significant } from './table.js';

interface Bar {
  readonly name: string;
  readonly value: number;
  readonly low?: number;
  readonly high?: number;
  readonly highlighted?: boolean;
}

interface Chart {
  readonly title: string;
  readonly subtitle: string;
  readonly bars: readonly Bar[];
  readonly mark?: number;
}

const WIDTH = 760;
const NAMES = 230;
const VALUES = 70;
const BAR = 18;
const GAP = 8;
const TOP = 62;

const STYLE = `text { font: 13px system-ui, sans-serif; fill: #1f2328 }
.title { font-size: 16px; font-weight: 600 } .faint { fill: #59636e; font-size: 12px }
.bar { fill: #8c959f } .own { fill: #0969da } .line { stroke: #59636e } .mark { stroke: #cf222e; stroke-dasharray: 4 3 }
@media (prefers-color-scheme: dark) { text { fill: #f0f6fc } .faint { fill: #9198a1 } .bar { fill: #656c76 } .own { fill: #4493f8 }
.line { stroke: #d1d7e0 } .mark { stroke: #f85149 } }`;

export function barChart({ title, subtitle, bars, mark }: Chart): string {
  const longest = Math.max(...bars.map(({ value, high }) => Math.max(value, high ?? 0)), mark ?? 0);
  const scale = (value: number): number => round((value / longest) * (WIDTH - NAMES - VALUES));
  const height = TOP + bars.length * (BAR + GAP) + GAP;
  const parts = bars.map((bar, index) => {
    const y = TOP + index * (BAR + GAP);
    const middle = y + BAR / 2;
    const end = NAMES + scale(Math.max(bar.value, bar.high ?? 0));
    return [
      `<text x="${NAMES - 8}" y="${middle + 5}" text-anchor="end">${escaped(bar.name)}</text>`,
      `<rect class="${bar.highlighted ? 'own' : 'bar'}" x="${NAMES}" y="${y}" width="${Math.max(scale(bar.value), 1)}" height="${BAR}" rx="2"/>`,
      bar.low === undefined || bar.high === undefined
        ? ''
        : `<line class="line" x1="${NAMES + scale(bar.low)}" x2="${NAMES + scale(bar.high)}" y1="${middle}" y2="${middle}"/>`,
      `<text x="${end + 6}" y="${middle + 5}">${significant(bar.value)}x</text>`,
    ].join('');
  });
  const line =
    mark === undefined
      ? ''
      : `<line class="mark" x1="${NAMES + scale(mark)}" x2="${NAMES + scale(mark)}" y1="${TOP - 6}" y2="${height - GAP}"/>`;
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" width="${WIDTH}" height="${height}" role="img">
<title>${escaped(title)}</title>
<style>${STYLE}</style>
<text class="title" x="8" y="24">${escaped(title)}</text>
<text class="faint" x="8" y="44">${escaped(subtitle)}</text>
${parts.join('\n')}
${line}
</svg>
`;
}

/** Draws the first group, fastest first, with pegwire highlighted. */
export function raceChart({ title, anchor, groups }: RaceSection, machine: string): string {
  const bars = (groups[0]?.results ?? []).map(({ name, ratio }) => ({
    name,
    value: ratio.median,
    low: ratio.low,
    high: ratio.high,
    highlighted: name.startsWith('pegwire'),
  }));
  const subtitle = `Speed relative to ${anchor}, median and quartiles of the rounds; longer is faster. ${machine}`;
  return barChart({ title, subtitle, bars: bars.toSorted((a, b) => b.value - a.value), mark: 1 });
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}
