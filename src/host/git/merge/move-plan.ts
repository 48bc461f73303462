import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { CheckoutMove } from "../../../ports/merge-git.ts";
import { writeAtomically } from "../../atomic-file.ts";
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

export function plansIn(scratch: string): readonly MovePlan[] {
  const dir = plansDir(scratch);
  if (!existsSync(dir)) return [];
  const names = readdirSync(dir).filter((name) => name.endsWith(".json"));
  return names.map((name) => JSON.parse(readFileSync(join(dir, name), "utf8")) as MovePlan);
}

export const savePlan = (scratch: string, plan: MovePlan): void =>
  writeAtomically(planPath(scratch, plan.checkout), JSON.stringify(plan), 0o600);

export const dropPlan = (scratch: string, { checkout }: Pick<MovePlan, "checkout">): void =>
  rmSync(planPath(scratch, checkout), { force: true });
