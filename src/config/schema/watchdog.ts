import { boolean, integer, milliseconds } from "./key.ts";

/** Who looks after the fleet, and when. */
export const watchdogKeys = {
  "watchdog.tier0Enabled": boolean({ doc: "Whether the mechanical health check runs.", default: true }),
  "watchdog.tier0IntervalMs": milliseconds({ doc: "Time between health checks.", default: 30_000 }),
  "watchdog.tier2Enabled": boolean({ doc: "Whether a monitor agent watches the fleet.", default: false }),
  "watchdog.staleThresholdMs": milliseconds({
    doc: "Without activity for this long an agent is stalled.",
    default: 300_000,
    min: 1,
  }),
  "watchdog.zombieThresholdMs": milliseconds({
    doc: "Without activity for this long an agent is given up.",
    default: 600_000,
    min: 1,
  }),
  "watchdog.nudgeIntervalMs": milliseconds({
    doc: "Time between the steps of the escalation ladder.",
    default: 60_000,
    min: 1,
  }),
  "watchdog.maxEscalationLevel": integer({
    doc: "Step of the ladder at which an agent is ended.",
    default: 3,
    min: 1,
    max: 5,
  }),
  "watchdog.notifyParentOnDeath": boolean({ doc: "Whether a parent is told that its child died.", default: true }),
};
