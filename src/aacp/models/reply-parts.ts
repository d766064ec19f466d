/** The parts of what a model wrote: thoughts, fenced blocks, prose, lines. Each is told apart in one pass. */

/** A stretch of a reply. */
export interface ReplyPart {
  readonly text: string;
  /** Whether it stands between fences. */
  readonly isFenced: boolean;
  /** Whether it has an end: a fence that is never closed has none. */
  readonly isWhole: boolean;
}

/**
 * Without what is marked as thought: `<think>...</think>` and the like, also when the opening tag was part of the prompt.
 * Thoughts without an end take all that follows with them.
 */
export function withoutThoughts(text: string): string {
  let kept = '';
  let at = 0;
  let open: string | null = null;
  for (const match of text.matchAll(/<(\/?)(think|thinking|thought|reasoning|reflection)>/gi)) {
    const tag = match[2]!.toLowerCase();
    const isClosing = match[1] === '/';
    if (open === null && !isClosing) {
      kept += text.slice(at, match.index);
      open = tag;
    } else if (isClosing && (open === null || open === tag)) {
      // Without an opening tag, all up to here was thought.
      if (open === null) kept = '';
      open = null;
      at = match.index + match[0].length;
    }
  }
  return open === null ? kept + text.slice(at) : kept;
}

/** The blocks between fences of backticks or tildes, and what stands around them. */
export function partsOf(text: string): readonly ReplyPart[] {
  const parts: ReplyPart[] = [];
  let lines: string[] = [];
  let fence: string | null = null;
  const end = (isWhole: boolean): void => {
    if (lines.length > 0) parts.push({ text: lines.join('\n'), isFenced: fence !== null, isWhole });
    lines = [];
  };
  for (const line of text.split(/\r?\n/)) {
    const marks: string | undefined = /^ {0,3}(`{3,}|~{3,})/.exec(line)?.[1];
    const after = marks === undefined ? '' : line.slice(line.indexOf(marks) + marks.length).trim();
    if (fence === null && marks !== undefined && !after.includes('`')) {
      end(true);
      fence = marks;
    } else if (fence !== null && marks?.startsWith(fence) && after === '') {
      end(true);
      fence = null;
    } else lines.push(line);
  }
  end(fence === null);
  return parts;
}

/** A slot with a key; a TASK or a DOM. */
const SLOT = /^\s*(?:[a-z][a-z0-9_]*\s*:|[A-Z][A-Z0-9_-]*\s*(?:\||$))/;
/** A bar, and a slot with a key. */
const BAR_AND_SLOT = /^\s*\|\s*[a-z][a-z0-9_]*\s*:/;

/** Packets that were broken after a bar, or before one, on one line again. Rows of tables stay as they are. */
export function unwrapped(text: string): string {
  const whole: string[][] = [];
  /** The last line of the packet so far; `null` where there is none. */
  let before: string | null = null;
  for (const line of text.split('\n')) {
    if (before !== null && (before.endsWith('|') ? SLOT : BAR_AND_SLOT).test(line)) {
      const pieces = whole.at(-1)!;
      pieces.push(pieces.pop()!.trimEnd(), line.trim());
      before = line.trimEnd();
    } else {
      whole.push([line]);
      before = line.includes('|') && !line.trimStart().startsWith('|') ? line.trimEnd() : null;
    }
  }
  return whole.map((pieces) => pieces.join('')).join('\n');
}
