/** Races the slow readers of one protocol: `node slow-child.js accp|aacp TIMING`, the timing as JSON. */
import process from 'node:process';
import { clearProgress, type RaceTiming, runReadingRaces } from './contest.js';
import { MIXED, slowReaders } from './mixed.js';

const protocol = process.argv[2] === 'aacp' ? 'aacp' : 'accp';
const timing = JSON.parse(process.argv[3]!) as RaceTiming;
const { contest, samples } = MIXED[protocol];
const section = await runReadingRaces(contest, slowReaders(protocol), [{ name: 'mixed', samples: samples() }], timing);
clearProgress();
console.log(JSON.stringify(section));
