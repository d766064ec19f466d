/** A report of a gap, as codecs write it (draft-benzing-accp-00, sections 3.6 and 3.7). */
const GAP = /^@[^>]*>fail:error\{[^}]*\bcode:E3003\b/;

/** Whether a frame tells that one before it is missed. */
export function isGapReport(frame: string): boolean {
  return GAP.test(frame);
}
