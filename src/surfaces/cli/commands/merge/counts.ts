import { visibleLine } from "../../../../domain/text/visible.ts";
import type { Paint } from "../../command.ts";
import { hintLine, warningLine } from "../../marks.ts";

/** Where branches stand, for the answers of other commands. */
export interface Counts {
  readonly pending: number | readonly number[];
  readonly approvals: readonly number[];
  readonly failed: readonly number[];
  readonly troubles?: readonly string[] | undefined;
}

export const mergesJson = ({ pending, approvals, failed, troubles = [] }: Counts) => ({
  pending: count(pending),
  waitingForApproval: approvals,
  failed,
  troubles,
});

/** Nothing while nothing is on its way; else how much, and what a person has to do. */
export function mergeLines(paint: Paint, { pending, approvals, failed, troubles = [] }: Counts): readonly string[] {
  const repeated = troubles.map((why) =>
    warningLine(paint, `The last try failed and is repeated: ${visibleLine(why)}`, "ov merge log"),
  );
  if (count(pending) === 0 && failed.length === 0) return repeated;
  const numbers = [
    `${count(pending)} pending`,
    ...(approvals.length === 0 ? [] : [`${approvals.length} waiting for approval`]),
    ...(failed.length === 0 ? [] : [`${failed.length} failed`]),
  ];
  const [first] = approvals;
  return [
    `Merges: ${numbers.join(", ")}`,
    ...(first === undefined ? [] : [warningLine(paint, approvalWords(approvals.length), approvalCommand(approvals))]),
    ...repeated,
    ...(failed.length === 0 ? [] : [hintLine(paint, `see what failed: ${failedCommands(failed)}`)]),
  ];
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
