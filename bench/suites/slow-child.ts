/** Races the slow readers of one protocol: `node slow-child.js accp|aacp PACE`, the pace as JSON. */
import process from 'node:process';
import { clearProgress, holdReadingRaces, type Pace } from './contest.js';
import { MIXED, slowReaders } from './mixed.js';

const protocol = process.argv[2] === 'aacp' ? 'aacp' : 'accp';
const pace = JSON.parse(process.argv[3]!) as Pace;
const { contest, samples } = MIXED[protocol];
const section = await holdReadingRaces(contest, slowReaders(protocol), [{ name: 'mixed', samples: samples() }], pace);
clearProgress();
console.log(JSON.stringify(section));
