import { testDelivery } from './delivery-properties.js';

testDelivery(3_000);
