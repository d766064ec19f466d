/** Clients of ARCP runtimes, on Node. Public as `pegwire/arcp/client`. */
export { connect } from '../node/connect.js';
export { fileCursor } from '../node/file-cursor.js';
export { type DialOptions, dialOf, type Program, type Target } from '../node/targets.js';
export * from './portable.js';
