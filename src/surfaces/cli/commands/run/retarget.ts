import { ok } from "../../../../domain/result.ts";
import { visibleLine } from "../../../../domain/text/visible.ts";
import type { Handler } from "../../command.ts";
import { text, word } from "../../given.ts";
import { hintLine, successLine } from "../../marks.ts";

/** Lets a run work for another branch, such as when its target was renamed. */
export const retarget: Handler = async ({ app, args, flags, io }) => {
  const target = word(args.branch);
  const head = await app.call("branch.find", { branch: target });
  if (!head.ok) return head;
  const changed = await app.call("run.retarget", { runId: text(flags.run), target });
  if (!changed.ok) return changed;
  const { run, before, waiting } = changed.value;
  const { id: runId, landingBranch } = run;
  const was = before === null || before === target ? "" : ` (was ${visibleLine(before)})`;
  const where =
    landingBranch === null || waiting === 0
      ? ""
      : `what has landed waits on ${landingBranch}; take it over: ov merge promote --run ${runId}`;
  return ok({
    json: { runId, targetBranch: target, landingBranch, before },
    text: [
      successLine(io.paint, `${runId} works for ${visibleLine(target)} now${was}`),
      ...(where === "" ? [] : [hintLine(io.paint, visibleLine(where))]),
    ].join("\n"),
    quietText: runId,
  });
};
