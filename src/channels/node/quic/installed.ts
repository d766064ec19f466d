import type { QuicDriver } from './driver.js';
import { matrixQuic } from './matrix.js';
import type { MatrixPackage } from './matrix-package.js';

const PACKAGE = '@matrixai/quic';

/** Returns the driver of the package `@matrixai/quic`. @throws Error if it is not installed, or has no binary for this platform */
export async function installedQuic(): Promise<QuicDriver> {
  try {
    return matrixQuic((await import(PACKAGE)) as MatrixPackage);
  } catch (cause) {
    throw new Error(`QUIC requires the package ${PACKAGE}, which cannot be loaded; run npm install ${PACKAGE}`, {
      cause,
    });
  }
}
