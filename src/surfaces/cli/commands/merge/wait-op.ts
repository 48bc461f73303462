import type { MergeOp } from "../../../../domain/merge/operation.ts";
import type { Refusal } from "../../../../domain/refusal.ts";
import type { Result } from "../../../../domain/result.ts";
import { visibleLine } from "../../../../domain/text/visible.ts";
import type { FollowedOperation, OperationUnderWay } from "../../../../usecases/merge/follow.ts";
import type { App } from "../../app.ts";
import type { Io } from "../../command.ts";
import { teller } from "../../waiting.ts";

/** Waits until the engine has done what was asked, or has found that it cannot, and tells meanwhile what it does. */
export function settledOp(app: App, io: Io, { id }: MergeOp): Promise<Result<FollowedOperation, Refusal>> {
  const tell = teller(io);
  const onItem = ({ op, fullDisk }: OperationUnderWay): void => tell(fullDisk ?? goingOn(op));
  return app.follow("merge.followOperation", { id }, { onItem });
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
