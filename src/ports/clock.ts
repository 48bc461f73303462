export interface Clock {
  /** Wall clock, ms UTC: for display and for delays, never for declaring a death. */
  now(): number;
  /** Awake, monotonic ms: for durations and leases. */
  monotonic(): number;
}
