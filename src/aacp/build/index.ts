/** Packets that read back as what they were made of (draft-mackay-aacp-01, section 4). Portable. */
export { type EncodeCode, EncodeError } from './errors.js';
export { packetHash, samePacket } from './hash.js';
export { fromObject, type PacketObject, toObject } from './object.js';
export { type PacketOptions, packet } from './packet.js';
export type { Domain, DraftFields, FieldsOf, FieldValue, PacketInput, Task } from './packet-input.js';
export { aacp, type Interpolation } from './template.js';
export { type Upgrade, upgradePacket } from './upgrade.js';
export type { UpgradeCode, UpgradeNote } from './upgrade-notes.js';
