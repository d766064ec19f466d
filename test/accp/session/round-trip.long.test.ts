import { testRoundTrips } from './round-trip-properties.js';

testRoundTrips(5_000);
