import { boolean, integer, milliseconds } from "./key.ts";

/** Who looks after the fleet, and when. */
export const watchdogKeys = {
  "watchdog.tier0Enabled": boolean({ doc: "Whether the mechanical health check runs.", default: true }),
  "watchdog.tier0IntervalMs": milliseconds({ doc: "Time between health checks.", default: 30_000 }),
  "watchdog.tier1Enabled": boolean({
    doc: "Whether a model is asked about agents that look stuck.",
    default: false,
    later: "triage by a model",
  }),
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
  "watchdog.rpcTimeoutMs": milliseconds({
    doc: "How long a long-lived agent may take to say how it is.",
    default: 5000,
    later: "long-lived agents",
    min: 1000,
    max: 30_000,
  }),
  "watchdog.triageTimeoutMs": milliseconds({
    doc: "How long the model may take to judge a stuck agent; at most one health-check interval.",
    default: 30_000,
    later: "triage by a model",
    min: 5000,
    max: 120_000,
  }),
  "watchdog.maxEscalationLevel": integer({
    doc: "Step of the ladder at which an agent is ended.",
    default: 3,
    min: 1,
    max: 5,
  }),
  "watchdog.notifyParentOnDeath": boolean({ doc: "Whether a parent is told that its child died.", default: true }),
};
