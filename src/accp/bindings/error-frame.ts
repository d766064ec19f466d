/** Error frames of the bindings themselves, for what never came to a session (draft-benzing-accp-00, sections 3.6 and 11). */

import { errorBody } from '../codec/sender.js';
import { AccpError, type AccpErrorCode } from '../errors.js';
import { checkAgentName, isIdentifier, metadataText } from '../session/envelope.js';
import { createIds, systemClock } from '../session/runtime.js';
import type { FrameHead } from './frames.js';

/** Who error frames are from that no session knows of: nobody's numbers are used up by them. */
export const BINDING_AGENT = 'accp';

const freshId = createIds();

/**
 * An error frame outside of any session: it has number 1, and no `sid`. Any words can be told; those that a frame cannot hold are
 * written with `_` between them.
 *
 * Source: draft-benzing-accp-00, section 3.6.
 *
 * @param request what the frame answers, where that is known: its `mid` becomes `aid` and, where it has no `cid` of its own, `cid`
 * @throws TypeError on an agent that no frame can hold
 * @example
 * bareErrorFrame('E1001', 'The body is empty.')
 * // '@accp>fail:error{code:E1001|msg:The_body_is_empty|retry:false|schema:ER}[mid:b40718362955,seq:1,ts:1714000000]'
 */
export function bareErrorFrame(
  code: AccpErrorCode,
  message: string,
  request?: Pick<FrameHead, 'mid' | 'cid'> | null,
  agent: string = BINDING_AGENT,
): string {
  const mid = identifier(request?.mid);
  const metadata = metadataText({
    mid: freshId(),
    seq: 1,
    ts: Math.floor(systemClock()),
    cid: identifier(request?.cid) ?? mid,
    aid: mid,
  });
  return errorBody(checkAgentName(agent), new AccpError({ code, message }), false) + metadata;
}

/** A peer may have named itself or its message in a way that cannot be repeated. */
function identifier(text: string | undefined): string | undefined {
  return text !== undefined && isIdentifier(text) ? text : undefined;
}
