/** A process that compares the shares that it receives, one at a time. */
import { compareShare, type Share } from './share.js';

process.on('message', (share: Share) => process.send?.(compareShare(share)));
