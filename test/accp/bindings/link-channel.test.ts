import { testLink } from './link-suite.js';

testLink('a channel');
