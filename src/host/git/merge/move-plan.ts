import { createHash } from "node:crypto";
import { existsSync, lstatSync, readdirSync, readFileSync, realpathSync, renameSync, rmSync, statSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import type { CheckoutMove } from "../../../ports/merge-git.ts";
import { writeAtomically } from "../../atomic-file.ts";
import { commonDirOf, gitLinkIn } from "../places.ts";
import type { FileStep } from "./move-files.ts";

export interface Commits {
  readonly from: string;
  readonly to: string;
}

/** The checkout whose branch moves. */
export interface About {
  readonly checkout: string;
  /** The git directory of this checkout. */
  readonly gitDir: string;
  readonly commonDir: string;
  /** The branch that is checked out. */
  readonly ref: string;
}

/** One move, with all that is needed to go on after a kill. Each checkout has at most one, in a file of its own. */
export interface MovePlan extends About {
  readonly from: string;
  readonly to: string;
  /** The directory with the staged files and indexes. */
  readonly dir: string;
  /** The stamp of the checkout's index when it was copied. */
  readonly index: string | null;
  readonly steps: readonly FileStep[];
  /** False until git has said that nothing is in the way: until then nothing is moved. */
  readonly verified: boolean;
  /** Why the moved files go back. */
  readonly back: CheckoutMove | null;
}

export const plansDir = (scratch: string): string => join(scratch, "moves");
const planPath = (scratch: string, checkout: string): string =>
  join(plansDir(scratch), `${createHash("sha256").update(checkout).digest("hex").slice(0, 16)}.json`);

/** The directory of the plans, and the repository whose checkouts they may name. */
export interface PlanPlace {
  readonly scratch: string;
  readonly commonDir: string;
}

/** The plans that may be followed. Another program of this user can write to this directory, so each is checked. */
export function plansIn(place: PlanPlace): readonly MovePlan[] {
  return planNames(place).flatMap((name) => {
    const read = readPlan(place, name);
    return "plan" in read ? [read.plan] : [];
  });
}

/**
 * Renames plans that no move of ours has made, so that no later look takes them for plans. Returns a sentence for each.
 * A forged plan is never followed: a plan names files to overwrite and a directory to delete.
 */
export function putAsideForged(place: PlanPlace): readonly string[] {
  const dir = plansDir(place.scratch);
  return planNames(place).flatMap((name) => {
    const read = readPlan(place, name);
    if ("plan" in read) return [];
    const aside = join(dir, `${name}.refused`);
    renameSync(join(dir, name), aside);
    return [`the plan ${join(dir, name)} is not one of ours: ${read.problem}; it was put aside as ${aside}`];
  });
}

function planNames({ scratch }: PlanPlace): readonly string[] {
  const dir = plansDir(scratch);
  return existsSync(dir) ? readdirSync(dir).filter((name) => name.endsWith(".json")) : [];
}

function readPlan(place: PlanPlace, name: string): { readonly plan: MovePlan } | { readonly problem: string } {
  const file = join(plansDir(place.scratch), name);
  // A link or a pipe in the place of a plan is not read.
  if (!lstatSync(file).isFile()) return { problem: "it is no file" };
  let plan: MovePlan;
  try {
    plan = JSON.parse(readFileSync(file, "utf8"));
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    return { problem: "it is no JSON" };
  }
  const problem = misfit(place, plan, file);
  return problem === undefined ? { plan } : { problem };
}

/** Why a plan is not one of ours for a checkout of this repository, in words. */
function misfit({ scratch, commonDir }: PlanPlace, plan: MovePlan, file: string): string | undefined {
  if (typeof plan !== "object" || plan === null) return "it is no plan";
  const { checkout, gitDir, dir, ref, from, to, steps } = plan;
  if (![checkout, gitDir, plan.commonDir, dir, ref, from, to].every((text) => typeof text === "string")) {
    return "something is missing in it";
  }
  if (planPath(scratch, checkout) !== file) return "it lies under the name of another checkout";
  if (real(plan.commonDir) !== real(commonDir)) return "it names another repository";
  const isThere = existsSync(checkout);
  if (isThere ? real(gitDirOf(checkout) ?? "") !== real(gitDir) : !isBelow(real(gitDir), real(commonDir))) {
    return `${checkout} is no worktree of this repository`;
  }
  if (isThere && real(commonDirOf(checkout) ?? "") !== real(commonDir)) {
    return `${checkout} is no worktree of this repository`;
  }
  const rooms = [plansDir(scratch), join(gitDir, "ov-moves"), join(checkout, ".overstory-moves")];
  if (!rooms.includes(dirname(dir)) || !/^move-\w+$/.test(basename(dir)) || isLink(dir)) {
    return `it would delete ${dir}`;
  }
  if (!/^refs\/heads\/[^\0]+$/.test(ref) || !isInside(ref)) return `it would move ${ref}`;
  if (![from, to].every((commit) => /^[0-9a-f]{40,64}$/.test(commit))) return "it names no commits";
  if (!Array.isArray(steps)) return "it has no steps";
  const outside = steps.find((step) => typeof step?.path !== "string" || !isInside(step.path));
  return outside === undefined
    ? undefined
    : `it would write to ${String(outside?.path)}, which is not a file of ${checkout}`;
}

/** A path of a checkout: relative, without steps upwards, and not in a git directory. */
const isInside = (path: string): boolean =>
  path !== "" && path.split("/").every((part) => !["", ".", ".."].includes(part) && part.toLowerCase() !== ".git");

const isBelow = (path: string, dir: string): boolean => path === dir || path.startsWith(`${dir}/`);
const isLink = (path: string): boolean => lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() === true;
const real = (path: string): string => (existsSync(path) ? realpathSync(path) : path);

function gitDirOf(checkout: string): string | undefined {
  const entry = join(checkout, ".git");
  if (statSync(entry, { throwIfNoEntry: false })?.isDirectory() === true) return entry;
  const points = gitLinkIn(entry);
  return points === undefined ? undefined : resolve(checkout, points);
}

export const savePlan = (scratch: string, plan: MovePlan): void =>
  writeAtomically(planPath(scratch, plan.checkout), JSON.stringify(plan), 0o600);

export const dropPlan = (scratch: string, { checkout }: Pick<MovePlan, "checkout">): void =>
  rmSync(planPath(scratch, checkout), { force: true });
