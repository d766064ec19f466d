/** JSON and CSS of the size of real files, for Peggy's own example grammars. */
import { createRandom, type Random } from '../../src/text/random.js';
import { messageSamples } from './messages.js';

/** The message corpus as one indented JSON document of about 40 KB. */
export function jsonDocument(): string {
  return JSON.stringify(
    messageSamples().map(({ json }) => JSON.parse(json) as unknown),
    null,
    2,
  );
}

const PARTS = ['nav', 'header', 'card', 'button', 'table', 'form', 'footer', 'menu', 'list', 'badge', 'panel', 'icon'];
const STATES = ['', ':hover', ':first-child', '.active', '.is-open', '[disabled]', '[type="text"]', ' > li', ' + p'];
const COLORS = ['#fff', '#1b1f24', '#0969da', 'transparent', 'rgba(27, 31, 36, 0.15)', 'inherit'];

/** A style sheet of about 40 KB, in the CSS 2.1 that the example grammar knows. */
export function cssDocument(): string {
  const random = createRandom(11);
  const blocks = Array.from({ length: 200 }, (_, index) => {
    if (index % 40 === 0) return `/* ---- Part ${index / 40 + 1}: ${random.pick(PARTS)} ---- */\n`;
    return index % 25 === 7 ? `@media screen, print {\n${rule(random)}${rule(random)}}\n` : rule(random);
  });
  return `@charset "utf-8";\n@import url("base.css") screen;\n\n${blocks.join('\n')}`;
}

function rule(random: Random): string {
  const selectors = Array.from({ length: random.integer(1, 3) }, () => selector(random));
  const lines = Array.from({ length: random.integer(2, 7) }, () => `  ${declaration(random)};\n`);
  return `${selectors.join(',\n')} {\n${lines.join('')}}\n`;
}

function selector(random: Random): string {
  const part = random.pick(PARTS);
  const start = random.pick([`.${part}`, `#${part}-${random.integer(1, 40)}`, 'div', `ul.${part}`, `.${part} a`]);
  return `${start}${random.pick(STATES)}`;
}

function declaration(random: Random): string {
  const length = (): string => `${random.integer(0, 40)}${random.pick(['px', 'em', '%', 'px'])}`;
  return random.pick([
    () => `color: ${random.pick(COLORS)}`,
    () => `background: ${random.pick(COLORS)} url("img/${random.pick(PARTS)}.png") no-repeat 0 0`,
    () => `margin: ${length()} ${length()} ${length()} ${length()}`,
    () => `padding: ${length()}`,
    () => `font: bold ${random.integer(10, 24)}px/1.5 "Helvetica Neue", Arial, sans-serif`,
    () => `border: 1px solid ${random.pick(COLORS)} !important`,
    () => `width: ${random.integer(1, 100)}.${random.integer(1, 9)}%`,
    () => `display: ${random.pick(['block', 'inline-block', 'none'])}`,
  ])();
}
