import os from 'node:os';
import process from 'node:process';

/** Describes this machine, which figures depend on. */
export function thisMachine() {
  const cpus = os.cpus();
  return {
    cpu: cpus[0]?.model.trim() ?? 'unknown',
    cores: cpus.length,
    memoryGigabytes: Math.round(os.totalmem() / 2 ** 30),
    platform: `${process.platform} ${process.arch}`,
    node: process.versions.node,
  };
}

export type Machine = ReturnType<typeof thisMachine>;
