import {
  checkOf,
  type DoctorCategory,
  type DoctorCheck,
  doctorCategories,
  found,
  passed,
} from "../../domain/consistency/check.ts";
import type { ProjectFacts } from "../../domain/consistency/facts.ts";
import { inconsistencies } from "../../domain/consistency/invariants.ts";
import { failureOf } from "../../domain/failure.ts";
import { ok } from "../../domain/result.ts";
import { fields, list, oneOf } from "../../domain/schema/schema.ts";
import { isStoreFailure, storeTrouble } from "../../domain/store-trouble.ts";
import type { ProjectSurvey } from "../../ports/project-survey.ts";
import type { Effect, World } from "../operation.ts";
import { checkers } from "./checks.ts";

export interface ExamineRequest {
  /** All of them, if none is named. */
  readonly categories: readonly DoctorCategory[];
}

export interface Examination {
  readonly checks: readonly DoctorCheck[];
}

export const examineFields = { categories: list(oneOf(doctorCategories)) } as const;

/** Looks at everything and changes nothing. */
export const examineProject: Effect<ExamineRequest, Examination> = {
  kind: "effect",
  request: fields(examineFields),
  place: "caller",
  run: async (world, request) => ok({ checks: await examine(world, request) }),
};

/** A check that takes longer says so instead of its answer. */
const longestMs = 5_000;

/** The categories of the rules in `domain/consistency`, each with its words for "nothing found". */
const ruled: Partial<Record<DoctorCategory, string>> = {
  consistency: "rows, worktrees, branches, processes, leases, refs and files agree",
  agents: "agents, turns and what they wait for agree",
};

export async function examine(world: World, { categories }: ExamineRequest): Promise<readonly DoctorCheck[]> {
  const wanted = doctorCategories.filter((one) => categories.length === 0 || categories.includes(one));
  const survey = await world.projectSurvey();
  const [ruleChecks, ...own] = await Promise.all([
    lookAtRules(world, survey),
    ...wanted.map((category) => inTime(world, category, () => checkers[category](world, survey))),
  ]);
  return wanted.flatMap((category, at) => {
    const all = [...(own[at] ?? []), ...ruleChecks.filter((check) => check.category === category)];
    const words = ruled[category];
    return words === undefined || all.length > 0 ? all : [passed(category, category, words)];
  });
}

/** A checker that fails is a finding of its own: the others are shown all the same. */
async function inTime(
  world: World,
  category: DoctorCategory,
  look: () => Promise<readonly DoctorCheck[]>,
): Promise<readonly DoctorCheck[]> {
  const late = new AbortController();
  const slow = world.sleep(longestMs, late.signal).then((): readonly DoctorCheck[] => [
    found("warn", {
      category,
      name: "timeout",
      message: "looking took more than 5 s",
      affects: "this category is unknown",
    }),
  ]);
  try {
    return await Promise.race([look(), slow]);
  } catch (error) {
    const { says, next } = wordsAbout(error);
    const about = { category, name: "unreadable", affects: "this category is unknown" };
    return [found("fail", { ...about, message: `it could not be looked at: ${says}`, next })];
  } finally {
    late.abort();
  }
}

async function lookAtRules(world: World, survey: ProjectSurvey): Promise<readonly DoctorCheck[]> {
  try {
    return (await lookTwice(world, survey)).map(checkOf);
  } catch (error) {
    const { says, next, isOfStore } = wordsAbout(error);
    const about = {
      category: "consistency",
      name: "unreadable",
      affects: "the owners of worktrees and refs are unknown",
    } as const;
    const message = isOfStore ? `the database cannot be used: ${says}` : `what must agree cannot be looked at: ${says}`;
    return [found("fail", { ...about, message, next: next ?? "ov doctor --category databases, then: git fsck" })];
  }
}

/** Whatever went wrong: a doctor that ends with an error hides everything else that it found. */
function wordsAbout(error: unknown): {
  readonly says: string;
  readonly next: string | null;
  readonly isOfStore: boolean;
} {
  const data = failureOf(error);
  const says = error instanceof Error ? error.message : String(error);
  if (!isStoreFailure(data)) return { says, next: null, isOfStore: false };
  return { says, next: storeTrouble(data).next, isOfStore: true };
}

/** Between two looks a live engine or supervisor finishes the step that it is at. */
const betweenLooksMs = 1_500;

/**
 * The problems seen in both of two looks. Rows, processes and files are not read in one moment, so a single look at a
 * working project may see a turn without its process.
 */
async function lookTwice(world: World, survey: ProjectSurvey) {
  const facts = await lookOnce(world, survey);
  const first = inconsistencies(facts);
  if (first.length === 0 || !isAtWork(facts)) return first;
  await world.sleep(betweenLooksMs);
  const again = new Set(inconsistencies(await lookOnce(world, survey)).map(({ key }) => key));
  return first.filter(({ key }) => again.has(key));
}

const isAtWork = ({ engine, rows }: ProjectFacts): boolean =>
  engine.isAlive || engine.keeper === "alive" || (rows?.turns ?? []).some(({ status }) => status === "running");

/**
 * Where nothing was ever stored the owner of a file is unknown: a clone may have branches that were fetched. A database
 * that is gone makes the reading fail.
 */
export async function lookOnce(world: World, survey: ProjectSurvey): Promise<ProjectFacts> {
  const rows = await world.call("doctor.readRows", {});
  const isStored = (await world.engine()) !== undefined;
  return survey.look(rows.ok && isStored ? rows.value : null);
}
