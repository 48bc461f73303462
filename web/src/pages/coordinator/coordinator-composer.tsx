import { useMemo } from "react";
import { useAct, useWhyNot } from "../../api/actions.ts";
import { useAgents, useTasks } from "../../api/resources.ts";
import type { Head } from "../../api/types.ts";
import { toast } from "../../state/toasts.ts";
import { type Completion, Composer } from "../../ui/composer.tsx";

/** What a message may begin with. Without one of them it is something to do. */
const commands: readonly Completion[] = [
  { word: "/ask", hint: "a question; the answer comes here" },
  { word: "/change", hint: "changes the objective of the run" },
  { word: "/nudge", hint: "starts a turn now" },
];

const firstLine = (text: string): string => {
  const [line = ""] = text.split("\n", 1);
  return line.length > 72 ? `${line.slice(0, 71)}…` : line;
};

/** The field at the end of the conversation: words to the coordinator, with commands, agents and tasks at hand. */
export function CoordinatorComposer({ head }: { head: Head }) {
  const act = useAct();
  const offline = useWhyNot();
  const { agents = [] } = useAgents();
  const { data: tasks } = useTasks();
  const { name, runId } = head;
  const completions = useMemo<readonly Completion[]>(
    () => [
      ...commands,
      ...agents.map((agent) => ({ word: `@${agent.name}`, hint: `${agent.capability}, ${agent.status}` })),
      ...(tasks?.items ?? [])
        .filter((task) => task.column !== "done")
        .map(({ id, title }) => ({ word: `#${id}`, hint: title })),
    ],
    [agents, tasks],
  );
  const send = (text: string): Promise<boolean> => {
    const [, command, rest = ""] = /^\/(\w+)\s*([\s\S]*)$/.exec(text) ?? [];
    const words = rest.trim();
    if (command === undefined) return mail("dispatch", text);
    if (command === "nudge") {
      const path = `/api/agents/${encodeURIComponent(name)}/nudge`;
      return act({ what: `nudge ${name}`, method: "POST", path, done: `Nudged ${name}.` });
    }
    if (command !== "ask" && command !== "change") {
      toast(`There is no command /${command}. There are ${commands.map(({ word }) => word).join(", ")}.`, {
        failed: true,
      });
      return Promise.resolve(false);
    }
    if (words === "") {
      toast(`Write what to ${command} behind /${command}.`, { failed: true });
      return Promise.resolve(false);
    }
    return command === "ask" ? mail("question", words) : changeObjective(words);
  };
  const mail = (type: "dispatch" | "question", body: string): Promise<boolean> =>
    act({
      what: `send it to ${name}`,
      method: "POST",
      path: "/api/mail",
      body: { to: name, type, subject: firstLine(body), body, strict: true },
    });
  const changeObjective = (words: string): Promise<boolean> =>
    act({
      what: "change the objective",
      method: "POST",
      path: `/api/runs/${encodeURIComponent(runId)}/change`,
      body: { words },
      done: `The objective is changed, and ${name} is told.`,
    });
  return (
    <Composer
      draft={`coordinator.${runId}`}
      label="Message, / commands, @ agent, # task"
      verb="Send"
      completions={completions}
      whyNot={offline ?? (head.running ? undefined : `${name} has ended`)}
      onSend={send}
    />
  );
}
