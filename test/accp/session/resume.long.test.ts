import { testResume } from './resume-properties.js';

testResume(50, 200, false);
testResume(50, 200, true);
