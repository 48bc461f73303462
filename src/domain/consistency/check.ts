import type { FixStep, Inconsistency } from "./finding.ts";

/** The categories of 0.11 in their order, and ours behind them. */
export const doctorCategories = [
  "dependencies",
  "config",
  "structure",
  "databases",
  "consistency",
  "agents",
  "merge",
  "logs",
  "version",
  "ecosystem",
  "providers",
  "watchdog",
  "serve",
  "git",
  "security",
  "engine",
  "runtimes",
] as const;
export type DoctorCategory = (typeof doctorCategories)[number];

/** One thing that was looked at. `name` is the rule, `id` tells this result from others of the same rule. */
export interface DoctorCheck {
  readonly id: string;
  readonly name: string;
  readonly category: DoctorCategory;
  readonly status: "pass" | "warn" | "fail";
  readonly message: string;
  readonly details: readonly string[];
  readonly affects: string | null;
  /** The effect of `--fix`, in words; null when a person must decide. */
  readonly fix: string | null;
  /** What to type instead, or besides. */
  readonly next: string | null;
  /** The engine mends it by itself. */
  readonly healedByEngine: boolean;
  readonly isOfEngine: boolean;
  readonly steps: readonly FixStep[];
}

const nothing = {
  details: [],
  affects: null,
  fix: null,
  next: null,
  healedByEngine: false,
  isOfEngine: false,
  steps: [],
} as const;

export const passed = (category: DoctorCategory, name: string, message: string): DoctorCheck => ({
  ...nothing,
  id: name,
  name,
  category,
  status: "pass",
  message,
});

export const found = (
  status: "warn" | "fail",
  about: Pick<DoctorCheck, "category" | "name" | "message" | "affects"> & Partial<DoctorCheck>,
): DoctorCheck => ({ ...nothing, id: about.name, status, ...about });

/** Rules whose findings do not belong to `consistency`. */
const categories: Readonly<Record<string, DoctorCategory>> = {
  "open-to-others": "security",
  "token-of-ended-turn": "security",
  "variables-without-agent": "security",
  "file-of-gone-process": "engine",
  "file-of-other-project": "engine",
  "keeper-without-engine": "engine",
  "lease-of-the-dead": "engine",
  "stale-git-lock": "git",
  "ref-without-object": "git",
  "half-moved-checkout": "git",
  "link-to-nothing": "databases",
  "state-of-other-project": "structure",
  "half-written-file": "structure",
  "half-copied-database": "structure",
  "files-of-no-agent": "structure",
  "specification-not-shown": "structure",
  "end-without-outcome": "agents",
  "end-of-live-agent": "agents",
  "release-of-live-agent": "agents",
  "agent-of-no-parent": "agents",
  "working-without-turn": "agents",
  "wait-for-nothing": "agents",
  "merge-of-missing-commit": "merge",
  "merge-without-branch": "merge",
  "merge-without-engine": "merge",
  "attempt-without-engine": "merge",
  "check-without-engine": "merge",
  "run-without-landing-branch": "merge",
};

/** An inconsistency as a check. The engine's own chores are no failure: it does them when it starts. */
export const checkOf = (one: Inconsistency): DoctorCheck => ({
  ...nothing,
  id: one.key,
  name: one.rule,
  category: categories[one.rule] ?? "consistency",
  status: one.healedByEngine ? "warn" : one.severity,
  message: one.says,
  affects: one.affects,
  fix: one.does,
  healedByEngine: one.healedByEngine,
  isOfEngine: one.isOfEngine,
  steps: one.steps,
});
