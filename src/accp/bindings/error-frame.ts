import { errorBody } from '../codec/sender.js';
import { AccpError, type AccpErrorCode } from '../errors.js';
import { inSeconds } from '../message/message.js';
import { checkAgentName, isIdentifier, metadataText } from '../session/envelope.js';
import { createIds, systemClock } from '../session/runtime.js';
import type { FrameHead } from './frames.js';

/** The agent of error frames outside of any session: they do not use the numbers of an agent. */
export const BINDING_AGENT = 'accp';

const freshId = createIds();

/**
 * Creates an error frame outside of any session: it has the number 1 and no `sid`. Characters that a frame cannot hold are replaced by `_`.
 *
 * Source: draft-benzing-accp-00, section 3.6.
 *
 * @param request the rejected frame, if known: its `mid` becomes `aid` and, if it has no `cid` of its own, `cid`
 * @throws TypeError if a frame cannot hold the name of the agent
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
    ts: inSeconds(systemClock()),
    cid: identifier(request?.cid) ?? mid,
    aid: mid,
  });
  return errorBody(checkAgentName(agent), new AccpError({ code, message }), false) + metadata;
}

/** Returns an identifier of a peer, unless a frame cannot hold it. */
function identifier(text: string | undefined): string | undefined {
  return text !== undefined && isIdentifier(text) ? text : undefined;
}
