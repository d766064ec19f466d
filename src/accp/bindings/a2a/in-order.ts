/** The order in which frames of one agent were sent (draft-benzing-accp-00, section 3.5). */
import { tryParseFrame } from '../../parse.js';

/** A whole task has its messages apart from its artifacts: the numbers of one agent's frames say how they were sent. */
export function inOrder(frames: readonly string[]): readonly string[] {
  if (frames.length < 2) return frames;
  const numbered = frames.map((frame) => {
    const parsed = tryParseFrame(frame, { dialect: 'lenient' });
    const seq = parsed.ok ? parsed.value.metadata?.find(({ key }) => key === 'seq')?.value : undefined;
    return { frame, agent: parsed.ok ? parsed.value.agent : null, seq: seq?.kind === 'integer' ? seq.value : null };
  });
  const agent = numbered[0]!.agent;
  if (numbered.some((one) => one.seq === null || one.agent !== agent)) return frames;
  return numbered.sort((a, b) => (a.seq! < b.seq! ? -1 : a.seq! > b.seq! ? 1 : 0)).map(({ frame }) => frame);
}
