import { gateResultView } from "../../views/gate.ts";
import { engineView } from "../../views/project.ts";
import { snapshotDetailView, snapshotView } from "../../views/worktree.ts";
import { listOf, read } from "../route.ts";

/** Addresses of the engine, of kept work, and of what a gate said. */
export const engineRoutes = {
  "GET /api/engine": read("engine.status", engineView),
  "GET /api/snapshots": read("snapshot.list", (snapshots) => listOf(snapshots.map(snapshotView))),
  "GET /api/snapshots/:of": read("snapshot.show", snapshotDetailView),
  "GET /api/gates/:id": read("gate.log", ({ result }) => ({ result: gateResultView(result) })),
} as const;
