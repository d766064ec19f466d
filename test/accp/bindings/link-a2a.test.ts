import { testLink } from './link-suite.js';

testLink('A2A');
