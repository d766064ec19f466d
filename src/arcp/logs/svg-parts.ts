/** What pictures are made of. */

export const SVG_STYLE = `<style>
text { font: 13px system-ui, sans-serif; fill: #1f2328 }
.branch { fill: none; stroke: #b6bec9 }
@media (prefers-color-scheme: dark) { text { fill: #e6edf3 } .branch { stroke: #4a535e } }
</style>`;

export interface TextPart {
  readonly x: number;
  readonly y: number;
  readonly className: string;
  readonly content: string;
  /** Most characters of it that are shown. */
  readonly most: number;
}

export function text({ x, y, className, content, most }: TextPart): string {
  const shown = content.length > most ? `${content.slice(0, Math.max(1, most - 1))}…` : content;
  return `<text class="${className}" x="${x}" y="${y}">${escaped(shown)}</text>`;
}

export function escaped(content: string): string {
  return content.replace(/[&<>"]/g, (sign) => `&#${sign.charCodeAt(0)};`);
}
