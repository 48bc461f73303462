import { isOpenMerge, type MergeEntry } from "../../../../domain/merge/entry.ts";
import type { Refusal } from "../../../../domain/refusal.ts";
import { ok, type Result } from "../../../../domain/result.ts";
import { visibleLine } from "../../../../domain/text/visible.ts";
import type { MergeView } from "../../../../usecases/merge/read-merges.ts";
import type { App } from "../../app.ts";
import type { Io } from "../../command.ts";
import { duration } from "../../format.ts";
import { type MergeResult, resultOf } from "./result.ts";

/**
 * Waits until the engine has ended each of these, or until nothing more happens to what is left without somebody.
 * Answers what became of them, in their order.
 */
export async function settledMerges(
  app: App,
  io: Io,
  ids: readonly number[],
): Promise<Result<readonly MergeResult[], Refusal>> {
  const tell = teller(io);
  const standing = await app.until(async () => {
    const listed = await app.call("merge.list", {});
    if (!listed.ok) return listed;
    const open = new Map(listed.value.entries.map((view) => [view.entry.id, view]));
    const left = ids.flatMap((id) => open.get(id) ?? []);
    const reasons = new Map(left.map((view) => [view.entry.id, standstill(view, open)]));
    if (left.every(({ entry }) => reasons.get(entry.id) !== undefined)) return ok(reasons);
    const doing = left.map(({ entry }) => `${visibleLine(entry.branch)} ${progressWords(entry)}`);
    tell(app.fullDisk() ?? `${doing.join(", ")} (Ctrl-C stops only the waiting; see it later: ov merge list)`);
    return undefined;
  });
  if (!standing.ok) return standing;
  const ended = await app.call("merge.showMany", { ids });
  if (!ended.ok) return ended;
  return ok(ended.value.merges.map((detail) => resultOf(detail, standing.value.get(detail.entry.id))));
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

/** Why an open entry will not move by itself; undefined when it will. */
export function standstill(
  view: MergeView,
  open: ReadonlyMap<number, MergeView>,
  above: readonly number[] = [],
): string | undefined {
  const { entry, place, waitsFor } = view;
  if (!isOpenMerge(entry) || place !== null || entry.status === "merging" || entry.status === "gating")
    return undefined;
  if (entry.status === "blocked")
    return `${entry.causeDetail?.message ?? "something is in the way"}; it is tried again later`;
  for (const id of waitsFor) {
    const before = open.get(id);
    if (before === undefined) return `it waits for #${id}, which did not land`;
    if (above.includes(id)) return `it waits for #${id}, which waits for it`;
    if (standstill(before, open, [...above, entry.id]) !== undefined) return `it waits for #${id}, which waits itself`;
  }
  if (waitsFor.length > 0 || entry.notBefore > Date.now()) return undefined;
  if (entry.approval === "operator") return undefined;
  const { message } = entry.causeDetail ?? {};
  return `${message === undefined ? "" : `${message}; `}it waits for the operator's approval`;
}

/** Says on stderr what goes on, when a person has to wait for it: whatever is new, and now and then that it still is. */
export function teller(io: Io): (what: string) => void {
  const began = performance.now();
  let said = "";
  let at = began;
  return (what) => {
    const now = performance.now();
    const isNew = what !== said && now - began > patienceMs;
    if (!isNew && now - at < againMs) return;
    said = what;
    at = now;
    io.say(`${duration(now - began)}: ${what}`);
  };
}

/** Most merges are over by then, and their result says it all. */
const patienceMs = 2_000;
const againMs = 30_000;
