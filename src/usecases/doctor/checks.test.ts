import { expect, test } from "bun:test";
import type { FailureData } from "../../domain/failure.ts";
import type { ProjectSurvey } from "../../ports/project-survey.ts";
import type { World } from "../operation.ts";
import { checkers } from "./checks.ts";

const path = "/p/.git/ov-state/overstory.db";

async function adviceFor(problem: FailureData): Promise<string> {
  const health = {
    exists: true,
    problem,
    version: 0,
    newest: 1,
    isLogged: true,
    damage: [],
    unseen: [],
    isRuined: true,
    bytes: 1,
  };
  const survey = {
    database: () => health,
    newestBackup: () => "2026-01-01",
  } as Partial<ProjectSurvey> as ProjectSurvey;
  const [check] = await checkers.databases({} as World, survey);
  return `${check?.message}; ${check?.next}`;
}

test("an older copy of the database is advised for damage alone", async () => {
  expect(await adviceFor({ kind: "store-corrupt", path, problem: "file is not a database", backup: null })).toMatch(
    /cannot be read: file is not a database; .*ov clean --restore 2026-01-01/,
  );
  for (const problem of [
    { kind: "disk-full", path },
    { kind: "store-busy", path, waitedMs: 5_000 },
    { kind: "store-read-only", path },
  ] as const) {
    expect(await adviceFor(problem)).not.toContain("restore");
  }
  expect(await adviceFor({ kind: "disk-full", path })).toBe(
    `the database cannot be read: the disk that holds ${path} is full; make room; agents at work go on by themselves`,
  );
});
