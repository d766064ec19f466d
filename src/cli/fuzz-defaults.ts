/** How many texts `pegwire fuzz` makes where nothing is said: to look at, and to compare with. */
export const FEW = 100;
export const MANY = 20_000;
