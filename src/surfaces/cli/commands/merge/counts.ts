import { visibleLine } from "../../../../domain/text/visible.ts";
import type { BlockedMerge } from "../../../../usecases/merge/queue-state.ts";
import type { Paint } from "../../command.ts";
import { hintLine, warningLine } from "../../marks.ts";

/** Where branches stand, for the answers of other commands. */
export interface Counts {
  readonly pending: number | readonly number[];
  readonly approvals: readonly number[];
  readonly failed: readonly number[];
  readonly blocked: readonly BlockedMerge[];
  readonly troubles?: readonly string[] | undefined;
}

export const mergesJson = ({ pending, approvals, failed, blocked, troubles = [] }: Counts) => ({
  pending: count(pending),
  waitingForApproval: approvals,
  failed,
  blocked,
  troubles,
});

/** Nothing while nothing is on its way; else how much, and what a person has to do. */
export function mergeLines(paint: Paint, counts: Counts): readonly string[] {
  const { pending, approvals, failed, blocked, troubles = [] } = counts;
  const repeated = troubles.map((why) =>
    warningLine(paint, `The last try failed and is repeated: ${visibleLine(why)}`, "ov merge log"),
  );
  if (count(pending) === 0 && failed.length === 0) return repeated;
  const numbers = [
    `${count(pending)} pending`,
    ...(approvals.length === 0 ? [] : [`${approvals.length} waiting for approval`]),
    ...(blocked.length === 0 ? [] : [`${blocked.length} blocked`]),
    ...(failed.length === 0 ? [] : [`${failed.length} failed`]),
  ];
  const [first] = approvals;
  return [
    `Merges: ${numbers.join(", ")}`,
    ...(first === undefined ? [] : [warningLine(paint, approvalWords(approvals.length), approvalCommand(approvals))]),
    ...blockedLines(paint, blocked),
    ...repeated,
    ...(failed.length === 0 ? [] : [hintLine(paint, `see what failed: ${failedCommands(failed)}`)]),
  ];
}

/** Branches mostly meet the same obstacle; the list has the rest. */
const mostBlocked = 3;

function blockedLines(paint: Paint, blocked: readonly BlockedMerge[]): readonly string[] {
  const lines = blocked
    .slice(0, mostBlocked)
    .map(({ id, branch, why }) =>
      warningLine(
        paint,
        `merge ${id} of ${visibleLine(branch)} is blocked: ${visibleLine(why)}`,
        `when that is mended: ov merge resume ${id}`,
      ),
    );
  return blocked.length <= mostBlocked ? lines : [...lines, hintLine(paint, "see all that is blocked: ov merge list")];
}

const failedCommands = (failed: readonly number[]): string =>
  failed.length > 3 ? "ov merge list --all" : failed.map((id) => `ov merge show ${id}`).join(", ");

const approvalWords = (count: number): string =>
  count === 1 ? "a branch waits for your approval" : `${count} branches wait for your approval`;

const approvalCommand = (approvals: readonly number[]): string =>
  approvals.length === 1 ? `ov merge approve ${approvals[0]}` : "ov merge list, then: ov merge approve <id>";

const count = (given: number | readonly number[]): number => (typeof given === "number" ? given : given.length);

/** A warning before work is done for a branch that was renamed or deleted. */
export const lostTargetWords = (target: string): string =>
  `there is no branch ${visibleLine(target)} any more, and nothing can land on it; when it was renamed: ov run retarget <branch>`;
