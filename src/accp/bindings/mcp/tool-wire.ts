/** Where the frames of a tool call stand in its request and its result. */

/** The member of a request's `_meta` with the frame of the call, or with several in their order. */
export const FRAME_META = 'accp/frame';

/** The member of a result's `_meta` with what the frame of a result could not say exactly, where there is something. */
export const LOSSES_META = 'accp/losses';

/** The member of a result's `_meta` that says why there is no frame: `expired`. */
export const DROPPED_META = 'accp/dropped';
