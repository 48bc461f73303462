import { ok } from "../../../../domain/result.ts";
import { visibleLine } from "../../../../domain/text/visible.ts";
import type { Surveyed } from "../../../../usecases/worktrees/survey.ts";
import type { Handler, Paint } from "../../command.ts";
import { hintLine, stateWord } from "../../marks.ts";

export const list: Handler = async ({ app, io }) => {
  const facet = await app.worktrees();
  const found = await facet.list();
  if (!found.ok) return found;
  const worktrees = found.value.map(worktreeJson);
  const empty = `No worktrees of agents.\n${hintLine(io.paint, "start an agent: ov sling <task>")}`;
  return ok({
    json: { worktrees },
    text: found.value.length === 0 ? empty : found.value.map((one) => lines(io.paint, one)).join("\n"),
    rows: {
      columns: ["AGENT", "STATE", "TASK", "BRANCH", "HEAD", "PATH"],
      cells: worktrees.map(({ agentName, state, taskId, branch, head, path }) => [
        agentName ?? "?",
        state ?? "unknown",
        taskId ?? "?",
        branch,
        head ?? "",
        path,
      ]),
      objects: worktrees,
    },
  });
};

const worktreeJson = ({ worktree, owner, head, exists }: Surveyed) => ({
  path: worktree.path,
  branch: worktree.branch,
  head,
  agentName: owner?.agent.name ?? null,
  state: owner?.agent.state ?? null,
  taskId: owner?.agent.taskId ?? null,
  kind: worktree.kind,
  exists,
});

function lines(paint: Paint, { worktree, owner, head, exists }: Surveyed): string {
  const agent = owner?.agent;
  const state = agent === undefined ? "unknown" : stateWord(paint, agent.state);
  const facts = [`Agent: ${agent?.name ?? "?"}`, `State: ${state}`, `Task: ${visibleLine(agent?.taskId ?? "?")}`];
  const gone = exists ? "" : ` ${paint.yellow("(directory is gone)")}`;
  return [
    `${paint.accent(visibleLine(worktree.branch))} ${paint.muted((head ?? "").slice(0, 8))}${gone}`,
    `  ${facts.join(" | ")}`,
    hintLine(paint, visibleLine(worktree.path)),
  ].join("\n");
}
