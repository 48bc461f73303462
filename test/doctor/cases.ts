import { agentCases } from "./cases/agent-cases.ts";
import { fileCases } from "./cases/file-cases.ts";
import { placeCases } from "./cases/place-cases.ts";
import type { Case } from "./cases/planting.ts";
import { refCases } from "./cases/ref-cases.ts";
import { singleCases } from "./cases/single-cases.ts";
import { turnCases } from "./cases/turn-cases.ts";

/** Made together and mended together: they do not hide each other. */
export const batches: Readonly<Record<string, readonly Case[]>> = {
  "turns, processes, leases, tokens and mail": turnCases,
  "agents, waits, tasks and links": agentCases,
  "merges, branches, refs and snapshots": refCases,
  "worktrees, checkouts of gates and locks": placeCases,
  "files of the state directory": fileCases,
};

export const alone = singleCases;
