import type { LandingStory, UnlandedStory, WorkStory } from "../../usecases/provenance/landing-story.ts";
import type { ExplainedLines, Why } from "../../usecases/provenance/why.ts";
import { iso } from "../values.ts";
import { agentView } from "./agent.ts";
import { turnStepView } from "./event.ts";
import { evidenceView } from "./gate.ts";
import { entryView } from "./merge.ts";

/** Why lines of a file are as they are. */
export const whyView = ({ path, branch, tip, parts, left, isChanged }: Why) => ({
  path,
  branch,
  commit: tip,
  parts: parts.map(explainedLinesView),
  count: parts.length,
  left,
  isChanged,
});

/** `by`: an agent of ours, a person, nobody known where a shallow clone ends, or the caller, who has not committed the lines. */
export const explainedLinesView = ({ from, to, text, commit, landing, unlanded }: ExplainedLines) => ({
  from,
  to,
  text,
  by:
    landing !== null || unlanded !== null
      ? ("agent" as const)
      : commit === null
        ? ("uncommitted" as const)
        : commit.isCutOff
          ? ("unknown" as const)
          : ("person" as const),
  commit: commit === null ? null : commitView(commit),
  landing: landing === null ? null : landingStoryView(landing),
  unlanded: unlanded === null ? null : unlandedStoryView(unlanded),
});

export const commitView = ({ id, author, committedAt, subject }: NonNullable<ExplainedLines["commit"]>) => ({
  id,
  author,
  committedAt: iso(committedAt),
  subject,
});

/** The landing of a commit, with agent, task, mail, turn and evidence. */
export const landingStoryView = (story: LandingStory) => ({
  merge: story.merge,
  entry: entryView(story.entry),
  ...workOf(story),
});

/** A commit of an agent that no landing brought anywhere. */
export const unlandedStoryView = (story: UnlandedStory) => ({ branch: story.branch, ...workOf(story) });

/** The agent, task, mail, turn and evidence of a commit. */
const workOf = (story: WorkStory) => ({
  agent: story.agent === null ? null : agentView(story.agent),
  task: story.task === null ? null : { id: story.task.id, title: story.task.title, status: story.task.status },
  messages: story.messages.map((message) => ({
    id: message.id,
    from: message.fromAgent,
    to: message.address,
    type: message.type,
    subject: message.subject,
    createdAt: iso(message.createdAt),
  })),
  turn:
    story.turn === null
      ? null
      : {
          id: story.turn.id,
          trigger: story.turn.trigger,
          startedAt: iso(story.turn.startedAt),
          endedAt: iso(story.turn.endedAt),
        },
  calls: story.calls.map(turnStepView),
  evidence: story.receipts.map(evidenceView),
});
