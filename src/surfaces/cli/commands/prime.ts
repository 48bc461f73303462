import { agentBriefView, personBriefView } from "../../../contract/views/run.ts";
import { ok } from "../../../domain/result.ts";
import { namedIn } from "../../../domain/text/long-list.ts";
import { visibleLine } from "../../../domain/text/visible.ts";
import type { AgentBrief, PersonBrief } from "../../../usecases/status/prime.ts";
import { counted, cut, moment } from "../../shared/format.ts";
import type { Handler } from "../command.ts";

export const prime: Handler = async ({ app, flags }) => {
  const compact = flags.compact === true;
  const agent = typeof flags.agent === "string" ? flags.agent : undefined;
  const found = await app.call("status.prime", agent === undefined ? {} : { agent });
  if (!found.ok) return found;
  const brief = found.value;
  if (brief.kind === "agent") {
    const context = agentText(brief, { compact });
    return ok({ json: { agent: brief.agent.name, compact, context, ...agentBriefView(brief) }, text: context });
  }
  const current = await app.call("project.currentBranch", {});
  if (!current.ok) return current;
  const context = personText(brief, { compact, currentBranch: current.value });
  return ok({
    json: { agent: agent ?? null, compact, context, ...personBriefView(brief) },
    text: context,
    wraps: true,
  });
};

interface PersonView {
  readonly compact: boolean;
  readonly currentBranch: string | undefined;
}

/** Where the project stands. Plain text without colours: it is read by models as often as by people. */
export function personText(brief: PersonBrief, { compact, currentBranch }: PersonView): string {
  const { project, limits, run } = brief;
  const elsewhere = currentBranch !== undefined && currentBranch !== project.canonicalBranch;
  return text([
    `# ${project.name}`,
    "",
    `- branch: ${project.canonicalBranch}${elsewhere ? ` (checked out here: ${currentBranch})` : ""}`,
    run === null ? undefined : `- run: ${run.id}${run.objective === null ? "" : ` (${run.objective})`}`,
    `- agents: ${brief.liveAgents} live`,
    `- tasks: ${brief.openTasks} open, ${brief.readyTasks} ready to start`,
    `- mail: ${brief.unread} unread`,
    brief.waiting === 0 ? undefined : `- waits for you: ${brief.waiting}, see: ov inbox`,
    ...notes(brief.remembered),
    ...(compact ? [] : pastRuns(brief)),
    ...(compact ? [] : [limitsLine(limits), "", "Next:", ...nextForPerson(brief).map((line) => `- ${line}`)]),
  ]);
}

/** The agent's identity and its work. */
export function agentText(brief: AgentBrief, { compact }: { readonly compact: boolean }): string {
  const { agent, task, waits, project } = brief;
  const state = brief.submitted ? "submitted" : agent.state;
  return text([
    `# ${agent.name}`,
    "",
    `- capability: ${agent.capability}`,
    `- state: ${state}${agent.outcome === null ? "" : ` (${agent.outcome})`}`,
    `- project: ${project.name}`,
    agent.taskId === null
      ? undefined
      : `- task: ${agent.taskId}${task === null ? "" : ` "${task.title}" (${task.status})`}`,
    agent.specPath === null ? undefined : `- specification: ${agent.specPath}`,
    `- parent: ${agent.parentName}`,
    agent.branch === null ? undefined : `- branch: ${agent.branch}`,
    agent.worktreePath === null ? undefined : `- worktree: ${agent.worktreePath}`,
    agent.scope.length === 0 ? undefined : `- files you own: ${agent.scope.join(", ")}`,
    agent.shares.length === 0 ? undefined : `- files you share: ${agent.shares.join(", ")}`,
    `- waits for: ${waits.length === 0 ? "nothing" : waits.map(({ kind, ref }) => `${kind} ${ref}`).join(", ")}`,
    `- mail: ${brief.unread} unread`,
    ...recovery(brief),
    ...(compact ? [] : pastTurns(brief)),
    ...notes(brief.remembered),
    ...(compact ? [] : ["", "Next:", ...nextForAgent(brief).map((line) => `- ${line}`)]),
  ]);
}

/** Where the agent stood: what a conversation that was shortened, or a successor, goes on from. */
function recovery({ identity, checkpoint }: AgentBrief): readonly string[] {
  return [
    ...(identity === null
      ? []
      : [
          `- done before: ${identity.recentTasks.map(({ taskId }) => taskId).join(", ")} (${counted(identity.completed, "task")})`,
        ]),
    ...(checkpoint === null || checkpoint.summary === ""
      ? []
      : [`- checkpoint (${moment(checkpoint.updatedAt)}): ${cut(checkpoint.summary, longest)}`]),
    ...(checkpoint === null || checkpoint.files.length === 0 ? [] : [`- files changed: ${namedIn(checkpoint.files)}`]),
    ...(checkpoint === null || checkpoint.pending === "" ? [] : [`- pending: ${cut(checkpoint.pending, longest)}`]),
  ];
}

const longest = 500;

const pastTurns = ({ recentTurns }: AgentBrief): readonly string[] =>
  recentTurns.map(
    ({ startedAt, trigger, status, resultText }) =>
      `- turn ${moment(startedAt)} (${trigger}, ${status})${resultText === null || resultText === "" ? "" : `: ${cut(resultText, 120)}`}`,
  );

/** The runs before the current one. */
const pastRuns = ({ run, recentRuns }: PersonBrief): readonly string[] =>
  recentRuns
    .filter(({ id }) => id !== run?.id)
    .map(
      ({ id, status, objective, startedAt }) =>
        `- earlier run ${id} (${status}, ${moment(startedAt)})${objective === null ? "" : `: ${cut(objective, 120)}`}`,
    );

const notes = (remembered: PersonBrief["remembered"]): readonly string[] =>
  remembered.map(
    ({ agentName, note }) => `- remembered${agentName === null ? "" : ` by ${agentName}`}: ${cut(note, longest)}`,
  );

function nextForPerson({ unread, waiting, readyTasks, liveAgents }: PersonBrief): readonly string[] {
  return [
    ...(waiting > 0 ? ["ov inbox"] : []),
    ...(unread > 0 ? ["ov mail check"] : []),
    ...(readyTasks > 0 ? ["ov task ready", "ov sling <task-id>"] : ['ov task create "What is to be done"']),
    ...(liveAgents > 0 ? ["ov status"] : []),
  ];
}

function nextForAgent({ unread, agent }: AgentBrief): readonly string[] {
  return [
    ...(unread > 0 ? ["ov mail check"] : []),
    ...(agent.taskId === null ? [] : [`ov task show ${agent.taskId}`]),
    `ov mail send --to ${agent.parentName} --type question --subject "..." --body "..."`,
  ];
}

function limitsLine({ maxConcurrent, maxDepth, maxAgentsPerLead, maxSessionsPerRun }: PersonBrief["limits"]): string {
  const agents = (limit: number): string => `${limit === 0 ? "any number of" : limit} agents`;
  const numbers = `${agents(maxAgentsPerLead)} per lead, ${agents(maxSessionsPerRun)} per run`;
  return `- limits: ${maxConcurrent} turns at once, depth ${maxDepth}, ${numbers}`;
}

/** Each entry is one line: a line break in a title or objective could make foreign text pass for ours. */
const text = (lines: readonly (string | undefined)[]): string =>
  lines
    .filter((line) => line !== undefined)
    .map(visibleLine)
    .join("\n");
