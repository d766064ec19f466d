import { testResume } from './resume-properties.js';

testResume(5, 20);
