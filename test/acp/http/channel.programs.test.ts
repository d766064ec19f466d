/** The channel of ACP over HTTP/1.1 fulfils the contract of all channels. */
import { channelContract } from '../../channels/contract.js';
import { open } from './ends.js';

channelContract('ACP over HTTP/1.1', () => open('http', {}, true), { isLimited: false });
