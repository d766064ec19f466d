/** Races the slow readers of one protocol: `node slow-child.js accp|aacp ROUNDS`. */
import process from 'node:process';
import { clearProgress, holdReadingRaces } from './contest.js';
import { MIXED, slowReaders } from './mixed.js';

const protocol = process.argv[2] === 'aacp' ? 'aacp' : 'accp';
const pace = { rounds: Number(process.argv[3]), turn: 2, warmUp: 200 };
const { contest, samples } = MIXED[protocol];
const section = await holdReadingRaces(contest, slowReaders(protocol), [{ name: 'mixed', samples: samples() }], pace);
clearProgress();
console.log(JSON.stringify(section));
