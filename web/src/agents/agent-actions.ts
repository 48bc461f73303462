import { useMemo } from "react";
import { useAct, useWhyNot } from "../api/actions.ts";
import type { Agent } from "../api/types.ts";
import { useGo } from "../state/url.ts";
import { count } from "../state/words.ts";
import { confirm, type MenuItem } from "../ui/overlays.tsx";

/** What can be done with agents, wherever they are shown. */
export function useAgentActions() {
  const act = useAct();
  const go = useGo();
  const offline = useWhyNot();
  return useMemo(() => {
    const route = (agent: Agent, verb: string): string => `/api/agents/${encodeURIComponent(agent.name)}/${verb}`;
    const post = (agent: Agent, verb: string, done: string): Promise<boolean> =>
      act({ what: `${verb} ${agent.name}`, method: "POST", path: route(agent, verb), done });
    const nudge = (agent: Agent) => post(agent, "nudge", `Nudged ${agent.name}.`);
    const pause = (agent: Agent) => post(agent, "pause", `Paused ${agent.name}.`);
    const resume = (agent: Agent) => post(agent, "resume", `${agent.name} goes on.`);
    const stop = (agents: readonly Agent[]): void => {
      const names = agents.length === 1 ? (agents[0]?.name ?? "") : count(agents.length, "agent");
      confirm({
        title: `Stop ${names}?`,
        effects: [
          ...agents.slice(0, 6).map(stopEffect),
          ...(agents.length > 6 ? [`and ${agents.length - 6} more.`] : []),
          "Kept: worktree, branch and everything uncommitted.",
          "The parent is told. An agent can be recovered later.",
        ],
        verb: `Stop ${names}`,
        run: () => {
          for (const agent of agents) void post(agent, "stop", `Stopped ${agent.name}.`);
        },
      });
    };
    const message = (agent: Agent): void => go("/mail", { compose: agent.name });
    const ended = (agent: Agent): string | undefined => offline ?? (agent.running ? undefined : "It has ended");
    const isPaused = (agent: Agent): boolean => agent.condition?.kind === "paused";
    const itemsFor = (agent: Agent): readonly (MenuItem | undefined)[] => [
      { label: "Open", run: () => go(`/agents/${agent.name}`), keys: "Enter" },
      { label: "Nudge", run: () => void nudge(agent), keys: "n", whyNot: ended(agent) },
      { label: "Message", run: () => message(agent), keys: "m", whyNot: offline },
      isPaused(agent)
        ? { label: "Resume", run: () => void resume(agent), keys: "Shift+P", whyNot: ended(agent) }
        : { label: "Pause", run: () => void pause(agent), keys: "Shift+P", whyNot: ended(agent) },
      { label: "Changes", run: () => go(`/agents/${agent.name}`, { tab: "changes" }), keys: "d" },
      undefined,
      { label: "Stop", run: () => stop([agent]), keys: "s", whyNot: ended(agent), danger: true },
    ];
    return { nudge, pause, resume, stop, message, ended, isPaused, itemsFor, offline };
  }, [act, go, offline]);
}

const stopEffect = (agent: Agent): string =>
  agent.state === "in_turn" ? `${agent.name}: its turn ends now.` : `${agent.name}: no new turn starts.`;
