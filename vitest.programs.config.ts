import { defineConfig } from 'vitest/config';
import { common, PROGRAMS } from './vitest.config.js';

/** The tests that start programs, servers and the packed package. */
export default defineConfig({ test: { ...common, include: [PROGRAMS] } });
