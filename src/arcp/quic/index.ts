/** ARCP over QUIC. Public as `pegwire/arcp/quic`. */
export type { DialQuicOptions } from '../../channels/node/quic/dial.js';
export type {
  QuicConnection,
  QuicConnectOptions,
  QuicDriver,
  QuicKey,
  QuicListenOptions,
  QuicOptions,
  QuicServer,
} from '../../channels/node/quic/driver.js';
export { matrixQuic } from '../../channels/node/quic/matrix.js';
export type { MatrixPackage } from '../../channels/node/quic/matrix-package.js';
export { connectQuic, dialQuic } from '../client/node/dial-quic.js';
export { type ListenQuicOptions, listenQuic, type QuicRuntimeListener } from '../runtime/node/listen-quic.js';
