/** The channels of ACP over WebSocket and HTTP/2 fulfil the contract of all channels. */
import { channelContract } from '../../channels/contract.js';
import { open } from './ends.js';

channelContract('ACP over WebSocket', ({ maxTextBytes } = {}) => open('ws', { maxMessageBytes: maxTextBytes }));
channelContract('ACP over HTTP/2', () => open('http', {}), { isLimited: false });
