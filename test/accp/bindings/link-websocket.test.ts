import { testLink } from './link-promises.js';

testLink('WebSocket');
