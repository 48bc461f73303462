import fc from "fast-check";

/**
 * Read before every test file of the gate: properties look at the same cases in every run, so that a red gate always means
 * that the change made it red. `npm run properties` looks at new cases; a failure there becomes a test of its own.
 */
const everyGate = 20_261_116;

fc.configureGlobal({ seed: Number(process.env.PROPERTY_SEED ?? everyGate) });
