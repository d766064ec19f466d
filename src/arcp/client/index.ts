/** Clients of ARCP runtimes for Node. Public as `pegwire/arcp/client`. */
export type { Program } from '../../channels/node/addresses.js';
export { connect, type DialOptions, dialOf, fileCursor, type Target } from './node/connect.js';
export * from './portable.js';
