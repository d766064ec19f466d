export { packetHash, samePacket } from './hash.js';
export type { Domain, DraftFields, FieldsOf, FieldValue, PacketInput, Task } from './packet.js';
export { fromObject, type PacketObject, type PacketOptions, packet, toObject } from './packet.js';
export { aacp, type Interpolation } from './template.js';
export type { UpgradeCode, UpgradeNote } from './upgrade.js';
export { type Upgrade, upgradePacket } from './upgrade.js';
export { type EncodeCode, EncodeError } from './values.js';
