import { comparisonView, mergeDiffView } from "../../views/diff.ts";
import { checkAnswerView, gateLogView, gateResultView } from "../../views/gate.ts";
import {
  addedEntryView,
  conflictsView,
  entryDetailView,
  entryView,
  mergeStateView,
  operationView,
  pauseView,
  queuedEntryView,
  queuePlanView,
  radarView,
  undoPlanView,
  watchedEntryView,
} from "../../views/merge.ts";
import { change, listOf, page, pageOf, read } from "../route.ts";

/** Addresses of the merge queue, its history and gates. */
export const mergeRoutes = {
  "GET /api/merge": read("merge.list", ({ entries }) => listOf(entries.map(queuedEntryView)), { defaults: page }),
  "POST /api/merge": change("merge.addBranch", addedEntryView, { defaults: { listsFiles: true } }),
  "GET /api/merge/plan": read("merge.plan", queuePlanView),
  "GET /api/merge/ops": read(
    "merge.log",
    ({ operations, entries, older }) => ({
      ...pageOf({ older, newest: operations[0]?.seq ?? null }),
      items: operations.map((op) => operationView(op, entries)),
    }),
    { defaults: page, isPaged: true },
  ),
  "GET /api/merge/radar": read("merge.radar", radarView),
  "GET /api/merge/queue": read("merge.readQueue", ({ merges }) => listOf(merges.map(watchedEntryView)), {
    names: { run: "runId" },
  }),
  "GET /api/merge/state": read("merge.showState", mergeStateView, { names: { run: "runId" } }),
  "GET /api/merge/ops/:of/undo": read("merge.planUndo", undoPlanView),
  "GET /api/merge/:of/diff": read("merge.showDiff", mergeDiffView),
  "GET /api/merge/:of": read("merge.show", entryDetailView),
  "GET /api/merge/:of/gates": read("merge.show", (detail) => listOf(entryDetailView(detail).gates)),
  "GET /api/merge/:of/log": read("merge.show", (detail) => {
    const { attempts, operations } = entryDetailView(detail);
    return { attempts, operations };
  }),
  "GET /api/merge/:of/conflicts": read("merge.showConflicts", conflictsView),
  "GET /api/diff": read("branch.compare", comparisonView, { names: { path: "file" } }),
  "GET /api/gates": read("gate.list", ({ results }) => listOf(results.map(gateResultView)), { defaults: page }),
  "POST /api/gates": change("web.runGates", (answer) => checkAnswerView(answer, answer), { isLong: true }),
  "GET /api/gates/:id/log": read("gate.readLog", gateLogView),
  "POST /api/merge/pause": change("merge.pauseQueue", ({ paused, underWay, changed }) => ({
    paused: pauseView(paused),
    underWay,
    changed,
  })),
  "POST /api/merge/resume": change("merge.resumeQueue", ({ changed }) => ({ changed })),
  "POST /api/merge/promote": change("merge.requestPromotion", ({ promote, ...nothing }) => ({
    op: promote === null ? null : operationView(promote, []),
    nothing: "nothing" in nothing ? nothing.nothing : null,
  })),
  "PATCH /api/merge/:of": change("merge.move", (moved) => ({ entry: queuedEntryView(moved) })),
  "POST /api/merge/:of/approve": change("merge.approve", ({ approved }) => listOf(approved.map(entryView))),
  "POST /api/merge/:of/reject": change("merge.reject", ({ entry }) => ({ entry: entryView(entry) })),
  "POST /api/merge/:of/settle": change("merge.settle", ({ entry, commit }) => ({ entry: entryView(entry), commit })),
  "POST /api/merge/:of/cancel": change("merge.cancel", ({ entry }) => ({ entry: entryView(entry) })),
  "POST /api/merge/:of/retry": change("merge.retry", ({ entry }) => ({ entry: entryView(entry) })),
  "POST /api/merge/:of/resume": change("merge.resume", ({ entry }) => ({ entry: entryView(entry) })),
  "POST /api/merge/ops/:of/undo": change("merge.requestUndo", ({ undo, entries }) => ({
    op: operationView(undo, entries),
  })),
} as const;
