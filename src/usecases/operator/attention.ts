import { type AttentionItem, attentionItem } from "../../domain/notification/notification.ts";
import type { Waiting } from "./inbox.ts";

/**
 * What waits for the operator, each thing with an id that it keeps. An agent that gets into trouble once more, after
 * another turn, is another thing.
 */
export function attentionItems({
  decisions,
  questions,
  troubled,
  unhanded,
  blocked,
}: Waiting): readonly AttentionItem[] {
  const items: readonly AttentionItem[] = [
    ...decisions.map(({ id, kind, from, subject, runId }) =>
      kind === "merge"
        ? { id, kind: "approval" as const, from, subject, runId }
        : { id: `decision:${id}`, kind, from, subject, runId },
    ),
    ...questions.map(({ id, from, subject, runId }) => ({
      id: `question:${id}`,
      kind: "question" as const,
      from,
      subject,
      runId,
    })),
    ...troubled.map(({ agent, problem, lastTurnId }) => ({
      id: `agent:${agent.id}:${lastTurnId ?? "never started"}`,
      kind: "agent" as const,
      from: agent.name,
      subject: `${agent.name}: ${problem ?? "it ended without finishing its task"}`,
      runId: agent.runId,
    })),
    ...unhanded.map(({ agentName, branch }) => ({
      id: `branch:${branch}`,
      kind: "branch" as const,
      from: agentName,
      subject: `${branch} is finished, and nobody hands it over`,
      runId: null,
    })),
    ...blocked.map(({ id, branch, why }) => ({
      id: `blocked:${id}`,
      kind: "merge" as const,
      from: branch,
      subject: `${branch}: ${why}`,
      runId: null,
    })),
  ];
  return items.map(attentionItem);
}
