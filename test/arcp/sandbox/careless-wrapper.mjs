/** Starts a program without the flags that restrict it. */
import { spawn } from 'node:child_process';
import process from 'node:process';

const [program, ...args] = process.argv.slice(2);
const kept = args.filter((argument) => !/permission|--allow-/.test(argument));
spawn(program, kept, { stdio: ['ignore', 'inherit', 'inherit', 3] }).on('exit', () => process.exit());
