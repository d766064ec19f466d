/** The order of fields that encoders write: that of the reference SDK, so that its packets can be reproduced. */

const ORDER: ReadonlyMap<string, number> = new Map(
  (
    'return p aacp res period filter fields fmt src src_prev rules validate tmpl data_ptr amt ccy sup match terms type ' +
    'party clause issue risk block flags flags_inherit req highlight status to subj att flag_msg sentiment tone prog ' +
    'actor chain ltv loyalty urgency'
  )
    .split(' ')
    .map((key, at) => [key, at]),
);

/** The key of pointers to data that is not in the packet. */
export const POINTER = 'data_ptr';

/** Where a key stands: private ones behind all others. */
export function rankOf(key: string): number {
  return ORDER.get(key) ?? ORDER.size;
}
