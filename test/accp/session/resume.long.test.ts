import { testResume } from './resume-properties.js';

testResume(50, 200);
