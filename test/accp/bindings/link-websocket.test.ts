import { testLink } from './link-suite.js';

testLink('WebSocket');
