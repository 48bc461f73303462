import type { DoctorCheck } from "../../domain/consistency/check.ts";
import type { FixReport, FixResult } from "../../usecases/doctor/fix.ts";
import type { Companion, Versions } from "../../usecases/doctor/versions.ts";
import { olderCheckKeys, olderCompanionKeys, olderUpgradeKeys } from "../older-keys.ts";

/** One thing that `ov doctor` looked at. `fixId` is what `ov doctor --fix` takes; null when there is no fix. */
export const doctorCheckView = (check: DoctorCheck) => ({
  id: check.id,
  name: check.name,
  category: check.category,
  status: check.status,
  severity: check.status === "pass" ? "none" : check.status === "warn" ? "low" : "high",
  message: check.message,
  details: check.details,
  affects: check.affects,
  fix: check.fix,
  fixId: check.steps.length > 0 ? check.id : null,
  next: check.next,
  healedByEngine: check.healedByEngine,
  // Only rules about what must agree have a heading of their own there.
  docs: check.id === check.name ? "docs/doctor.md" : `docs/doctor.md#${check.name}`,
  ...olderCheckKeys(check),
});

const countsOf = (checks: readonly DoctorCheck[]) => {
  const count = (status: DoctorCheck["status"]): number => checks.filter((check) => check.status === status).length;
  return { pass: count("pass"), warn: count("warn"), fail: count("fail") };
};

export const examinationView = (checks: readonly DoctorCheck[]) => ({
  healthy: checks.every(({ status }) => status !== "fail"),
  checks: checks.map(doctorCheckView),
  summary: countsOf(checks),
});

/** One fix, and what it did. */
export const fixView = ({ id, message, does, outcome, actions, why }: FixResult) => ({
  id,
  message,
  does,
  outcome,
  actions,
  why,
});

/** The checks after the fixes; `before` counts those of before. */
export const fixReportView = ({ before, fixes, after }: FixReport) => ({
  ...examinationView(after),
  before: countsOf(before),
  fixes: fixes.map(fixView),
  fixed: fixes.flatMap(({ outcome, actions }) => (outcome === "fixed" || outcome === "engine" ? actions : [])),
});

/** Of which versions the parts of a project are. */
export const versionsView = (versions: Versions) => ({
  version: versions.program,
  engineVersion: versions.engine,
  databaseVersion: versions.database,
  newestDatabaseVersion: versions.newest,
  migrations: versions.database === null ? 0 : Math.max(0, versions.newest - versions.database),
  ...olderUpgradeKeys(versions),
});

export const companionView = (companion: Companion) => ({
  name: companion.name,
  cli: companion.cli,
  installed: companion.isInstalled,
  version: companion.version,
  ...olderCompanionKeys(companion),
});

export const companionsView = (all: readonly Companion[]) => ({
  tools: all.map(companionView),
  summary: {
    total: all.length,
    installed: all.filter(({ isInstalled }) => isInstalled).length,
    missing: all.filter(({ isInstalled }) => !isInstalled).length,
    outdated: 0,
  },
});
