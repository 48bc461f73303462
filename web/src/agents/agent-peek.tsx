import { Link } from "@tanstack/react-router";
import { useAgents } from "../api/resources.ts";
import { count, money } from "../state/words.ts";
import { Button } from "../ui/controls.tsx";
import { FactList, PeekHead } from "../ui/peek.tsx";
import { Loading } from "../ui/states.tsx";
import { Age, Facts, Middle } from "../ui/text.tsx";
import { useAgentActions } from "./agent-actions.ts";
import css from "./agent-peek.module.css";
import { AgentState, NowLine } from "./agent-state.tsx";

/** An agent in short, beside any page. */
export default function AgentPeek({ id: name }: { id: string }) {
  const { agents } = useAgents();
  const { nudge, stop, message, ended, offline } = useAgentActions();
  const agent = agents?.find((each) => each.name === name);
  if (agents === undefined) return <Loading what={name} />;
  if (agent === undefined) return <PeekHead title={name}>This run has no agent of this name.</PeekHead>;
  return (
    <>
      <PeekHead title={<span className="mono">{agent.name}</span>}>
        <AgentState agent={agent} />
        <NowLine agent={agent} />
        <div className={css.actions}>
          <Button keys="n" whyNot={ended(agent)} onClick={() => void nudge(agent)}>
            Nudge
          </Button>
          <Button keys="m" whyNot={offline} onClick={() => message(agent)}>
            Message
          </Button>
          <Button keys="s" whyNot={ended(agent)} onClick={() => stop([agent])}>
            Stop...
          </Button>
          <Link className={css.open} to={`/agents/${agent.name}` as never}>
            Open agent
          </Link>
        </div>
      </PeekHead>
      <FactList
        facts={[
          ["Status", agent.status],
          ["Because", agent.because],
          ["Trouble", agent.problem],
          ["Advice", agent.advice],
          ["Task", agent.taskId],
          ["Branch", agent.branch === null ? null : <Middle key="branch" text={agent.branch} />],
          [
            "Ahead",
            agent.ahead == null ? null : `${count(agent.ahead, "commit")} since its base, when its last turn ended`,
          ],
          ["Parent", agent.parent],
          ["Runs on", <Facts key="runs" facts={[agent.runtime, agent.model]} />],
          [
            "Cost",
            agent.costUsd === undefined
              ? null
              : `${money(agent.costUsd)}${agent.limitUsd ? ` of ${money(agent.limitUsd)}` : ""}`,
          ],
          ["Turns", agent.turns],
          ["Unread mail", agent.unread],
          ["Started", <Age key="age" at={agent.startedAt} form="span" />],
          ["Last sign", <Age key="last" at={agent.lastActivity} form="span" />],
          ["Worktree", agent.worktreePath === null ? null : <Middle key="path" text={agent.worktreePath} tail={20} />],
        ]}
      />
    </>
  );
}
