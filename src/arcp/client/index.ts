/** Clients of ARCP runtimes for Node. Public as `pegwire/arcp/client`. */
export { connect, type DialOptions, dialOf, fileCursor, type Program, type Target } from './node/connect.js';
export * from './portable.js';
