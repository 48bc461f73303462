import type { MergeEntry } from "../../../../domain/merge/entry.ts";
import type { Refusal } from "../../../../domain/refusal.ts";
import { ok, type Result } from "../../../../domain/result.ts";
import { visibleLine } from "../../../../domain/text/visible.ts";
import type { MergesUnderWay } from "../../../../usecases/merge/follow.ts";
import type { App } from "../../app.ts";
import type { Io } from "../../command.ts";
import { teller } from "../../waiting.ts";
import { type MergeResult, resultOf } from "./result.ts";

/** Waits until the engine has ended each of these, and tells meanwhile what it does. */
export async function settledMerges(
  app: App,
  io: Io,
  ids: readonly number[],
): Promise<Result<readonly MergeResult[], Refusal>> {
  const tell = teller(io);
  const onItem = ({ left, fullDisk }: MergesUnderWay): void => {
    const doing = left.map((entry) => `${visibleLine(entry.branch)} ${progressWords(entry)}`);
    tell(fullDisk ?? `${doing.join(", ")} (Ctrl-C stops only the waiting; see it later: ov merge list)`);
  };
  const ended = await app.follow("merge.follow", { ids }, { onItem });
  if (!ended.ok) return ended;
  const { merges, standing } = ended.value;
  return ok(merges.map((detail) => resultOf(detail, standing[detail.entry.id])));
}

function progressWords({ status, targetBranch, causeDetail }: MergeEntry): string {
  const onto = visibleLine(targetBranch);
  if (status === "merging") return `is being merged with ${onto}`;
  return status === "gating"
    ? `is being checked by the gates before it lands on ${onto}`
    : waitingWords(causeDetail?.message);
}

const waitingWords = (trouble: string | undefined): string =>
  trouble === undefined
    ? "waits for its turn"
    : `waits for its turn; the last try failed and is repeated: ${visibleLine(trouble)}`;
