import { testLink } from './link-promises.js';

testLink('A2A');
