import { type KillVictim, pidsOf } from "../../src/host/kill-points.ts";
import type { TestProject } from "../../testkit/project.ts";
import type { RandomBlow } from "./cases.ts";

/** A blow that falls by itself; `told` says whom it hit, or that it came too late. */
export interface FallingBlow {
  readonly told: Promise<string>;
  /** It hit a keeper that had not started its engine yet, so that nobody is left to go on. */
  leftNobody(): boolean;
  /** The scenario is over: whoever was not hit by now will not be. */
  cancel(): void;
}

const lookMs = 2;

/** Kills one process of the wanted part at the wanted moment, or the first that plays that part afterwards. */
export function letFall(project: TestProject, { afterMs, victim, share }: RandomBlow): FallingBlow {
  let over = false;
  let alone = false;
  const fall = async (): Promise<string> => {
    await Bun.sleep(afterMs);
    for (; !over; await Bun.sleep(lookMs)) {
      const hit = strike(project.root, victim, share);
      if (hit === undefined) continue;
      alone = victim === "keeper" && pidsOf("engine", project.root).length === 0;
      return `killed ${victim} ${hit} after ${Math.round(afterMs)} ms`;
    }
    return `found no ${victim} after ${Math.round(afterMs)} ms`;
  };
  return {
    told: fall(),
    leftNobody: () => alone,
    cancel: () => {
      over = true;
    },
  };
}

function strike(root: string, victim: KillVictim, share: number): number | undefined {
  const pids = pidsOf(victim, root);
  const pid = pids[Math.floor(share * pids.length)];
  if (pid === undefined) return undefined;
  try {
    process.kill(pid, "SIGKILL");
    return pid;
  } catch (error) {
    // It ended by itself since it was listed, so nobody was hit.
    if (error instanceof Error && "code" in error && error.code === "ESRCH") return undefined;
    throw error;
  }
}
