import { promoteCommand } from "../../domain/merge/words.ts";
import { visibleLine } from "../../domain/text/visible.ts";
import type { Unpromoted } from "../../usecases/merge/landing/unpromoted.ts";
import type { Paint } from "./paint.ts";

/** Without this line a team's work looks finished although its target has nothing of it. */
export function landedLine(paint: Paint, landed: Unpromoted, current: string | null): string {
  const { facts, command } = landedParts(landed, current);
  return `${facts} ${paint.dim(`— ${command}`)}`;
}

/** What waits, and the command that takes it over: where lines are cut at their end, each has a line of its own. */
export function landedParts(
  landed: Unpromoted,
  current: string | null,
): { readonly facts: string; readonly command: string } {
  const { runId, landings, takenOut, unverified } = landed;
  const target = visibleLine(landed.target);
  const named = runId === current && runId !== null ? { runId: null, target: null } : landed;
  const doubt = unverified.length === 0 ? "" : `, NOT VERIFIED (${visibleLine(unverified.join("; "))})`;
  const facts = [
    ...(landings === 0
      ? []
      : [`${landings === 1 ? "1 branch waits" : `${landings} branches wait`} to be taken over into ${target}`]),
    ...(takenOut === 0
      ? []
      : [
          `${takenOut === 1 ? "1 branch was" : `${takenOut} branches were`} taken out again after ${target} had taken ${takenOut === 1 ? "it" : "them"} over`,
        ]),
  ];
  return { facts: `Landed: ${facts.join("; ")}${doubt}`, command: promoteCommand(named) };
}
