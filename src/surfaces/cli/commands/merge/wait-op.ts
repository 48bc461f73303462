import type { MergeEntry } from "../../../../domain/merge/entry.ts";
import type { MergeOp } from "../../../../domain/merge/operation.ts";
import type { Refusal } from "../../../../domain/refusal.ts";
import { ok, type Result } from "../../../../domain/result.ts";
import { visibleLine } from "../../../../domain/text/visible.ts";
import type { App } from "../../app.ts";
import type { Io } from "../../command.ts";
import { standstill, teller } from "./wait.ts";

interface SettledOp {
  readonly op: MergeOp;
  /** Every branch that operations of late concerned. */
  readonly entries: readonly MergeEntry[];
  /** Why it did not happen; null when it did. */
  readonly problem: string | null;
}

/** How many operations an operation may speak about. */
const lately = 200;

/** Waits until the engine has done what was asked, or has found that it cannot. */
export async function settledOp(app: App, io: Io, asked: MergeOp): Promise<Result<SettledOp, Refusal>> {
  const tell = teller(io);
  const ended = await app.until(async () => {
    const found = await app.call("merge.operation", { id: asked.id });
    if (!found.ok) return found;
    const { operation: op } = found.value;
    if (op.status !== "intended") {
      return ok({ op, problem: op.status === "done" ? null : (op.problem ?? "it did not happen") });
    }
    const stuck = await obstacle(app, op);
    if (!stuck.ok) return stuck;
    if (stuck.value !== undefined) return ok({ op, problem: stuck.value });
    tell(app.fullDisk() ?? goingOn(op));
    return undefined;
  });
  if (!ended.ok) return ended;
  const log = await app.call("merge.log", { limit: lately, empty: true });
  return log.ok ? ok({ ...ended.value, entries: log.value.entries }) : log;
}

/** What the engine does meanwhile, for a person who waits. */
function goingOn({ kind, ref, request, problem }: MergeOp): string {
  const { landing = "", target = "" } = request;
  const branch = visibleLine(ref.replace(/^refs\/heads\//, ""));
  const what =
    kind === "promote"
      ? `moving ${visibleLine(target)} forward to ${visibleLine(landing)}`
      : `taking it out of ${branch}, and checking what is left`;
  const failed = problem === null ? "" : `; the last try failed and is repeated: ${visibleLine(problem)}`;
  return `${what}${failed} (Ctrl-C stops only the waiting; see it later: ov merge log)`;
}

/** A promotion waits for the target's own commits, which go through the queue like anything else. */
async function obstacle(app: App, { kind, request }: MergeOp): Promise<Result<string | undefined, Refusal>> {
  if (kind !== "promote") return ok(undefined);
  const listed = await app.call("merge.list", {});
  if (!listed.ok) return listed;
  const { entries } = listed.value;
  const first = entries.find(({ entry }) => entry.branch === request.target && entry.targetBranch === request.landing);
  const why = first && standstill(first, new Map(entries.map((view) => [view.entry.id, view])));
  if (first === undefined || why === undefined) return ok(undefined);
  return ok(`${visibleLine(first.entry.branch)} has moved and is brought in first as merge ${first.entry.id}: ${why}`);
}
