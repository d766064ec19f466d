import { testResume } from './resume-properties.js';

testResume(5, 20, false);
testResume(5, 20, true);
