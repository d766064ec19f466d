import { ConnectionError } from '../../errors.js';
import type { QuicDriver } from './driver.js';
import { matrixQuic } from './matrix.js';
import type { MatrixPackage } from './matrix-package.js';

const PACKAGE = '@matrixai/quic';

/** Returns the driver of the package `@matrixai/quic`. @throws ConnectionError `no-package` if it is not installed, or has no binary for this platform */
export async function installedQuic(): Promise<QuicDriver> {
  try {
    return matrixQuic((await import(PACKAGE)) as MatrixPackage);
  } catch (cause) {
    const message = `The package ${PACKAGE} is not installed, or has no binary for this platform; run npm install ${PACKAGE}`;
    throw new ConnectionError<'no-package'>('no-package', message, { cause });
  }
}
