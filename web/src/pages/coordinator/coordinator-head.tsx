import { useState } from "react";
import { AgentState, NowLine } from "../../agents/agent-state.tsx";
import { useAct, useWhyNot } from "../../api/actions.ts";
import { ApiError, read } from "../../api/client.ts";
import { useAgents } from "../../api/resources.ts";
import type { ExitCheck, Head } from "../../api/types.ts";
import { useCommands } from "../../state/commands.ts";
import { toast } from "../../state/toasts.ts";
import { count, money } from "../../state/words.ts";
import { Button } from "../../ui/controls.tsx";
import { confirm, Overlay } from "../../ui/overlays.tsx";
import css from "./coordinator-page.module.css";

/** How the coordinator stands, and what can be done with its run. */
export function CoordinatorHead({ head }: { head: Head }) {
  const { agents = [] } = useAgents();
  const agent = agents.find(({ name }) => name === head.name);
  const { check, checkNow, close } = useCheck(head);
  const { stop, end, whyNot } = useRunActions(head);
  const whyNotStop = whyNot ?? (head.runStatus === "completed" && !head.running ? "Its run has ended" : undefined);
  useCommands("Coordinator", [
    { id: "coordinator.check", label: "Check whether the run is complete", run: () => void checkNow() },
    { id: "coordinator.stop", label: `Stop ${head.name} and its run`, run: () => stop(false), disabled: whyNotStop },
    {
      id: "coordinator.stop-all",
      label: `Stop ${head.name} and all its agents`,
      run: () => stop(true),
      disabled: whyNotStop,
    },
  ]);
  return (
    <header className={css.head}>
      <div className={css.first}>
        <h1>Coordinator</h1>
        {agent === undefined ? (
          <span>{head.running ? "" : "has ended"}</span>
        ) : (
          <>
            <AgentState agent={agent} breathes />
            <NowLine agent={agent} />
          </>
        )}
        <span className={css.facts}>
          {agent === undefined ? null : <span>{count(agent.turns, "turn")}</span>}
          {agent?.costUsd === undefined || agent.costUsd === null ? null : <span>{money(agent.costUsd)}</span>}
          <Button onClick={() => void checkNow()}>Check complete</Button>
          <Button whyNot={whyNotStop} onClick={() => stop(false)}>
            Stop...
          </Button>
        </span>
      </div>
      {head.objective === null ? null : <p className={css.objective}>{head.objective}</p>}
      <Overlay title="Is the run complete?" open={check !== undefined} onClose={close}>
        {check === undefined ? null : (
          <CheckFacts
            check={check}
            whyNot={whyNot}
            onEnd={() => {
              close();
              end();
            }}
          />
        )}
      </Overlay>
    </header>
  );
}

function useCheck(head: Head) {
  const [check, setCheck] = useState<ExitCheck>();
  const checkNow = async (): Promise<void> => {
    try {
      setCheck(await read("/api/coordinator/check", { name: head.name }));
    } catch (error) {
      const told = error instanceof ApiError ? error.message : String(error);
      toast(`Could not check the run of ${head.name}: ${told}.`, { failed: true });
    }
  };
  return { check, checkNow, close: () => setCheck(undefined) };
}

function CheckFacts({ check, whyNot, onEnd }: { check: ExitCheck; whyNot: string | undefined; onEnd: () => void }) {
  const { open, failures, triggers } = check;
  const on = Object.entries(triggers).filter(([, { enabled }]) => enabled);
  return (
    <>
      <p>
        {open.length === 0
          ? "Nothing is open. The run can end."
          : `${count(open.length, "thing keeps", "things keep")} the run open:`}
      </p>
      <ul className={css.open}>
        {open.map(({ kind, name, what, fix }) => (
          <li key={`${kind}:${name}`}>
            {what}
            <span>{fix}</span>
          </li>
        ))}
        {failures.map(({ name, capability, outcome }) => (
          <li key={name}>
            {name} ({capability}) ended as {outcome}
          </li>
        ))}
        {on.map(([name, { met, detail }]) => (
          <li key={name}>
            Trigger {name}: {met ? "met" : "not met"}
            <span>{detail}</span>
          </li>
        ))}
      </ul>
      <div className={css.buttons}>
        <Button
          look={open.length === 0 ? "primary" : "plain"}
          whyNot={whyNot ?? (open.length === 0 ? undefined : "Something is open")}
          onClick={onEnd}
        >
          End the run
        </Button>
      </div>
    </>
  );
}

function useRunActions(head: Head) {
  const act = useAct();
  const whyNot = useWhyNot();
  const stop = (withWorkers: boolean): void => {
    const { workers, name } = head;
    confirm({
      title: `Stop ${name} and its run?`,
      effects: [
        head.running ? "Its turn ends now, and no new one starts." : `${name} has ended already.`,
        workers.length === 0
          ? "No agent of the run is at work."
          : withWorkers
            ? `${count(workers.length, "agent is", "agents are")} stopped with it: ${workers.join(", ")}.`
            : `${count(workers.length, "agent goes", "agents go")} on without it: ${workers.join(", ")}.`,
        "The run ends. Kept: branches, worktrees, tasks and everything that has landed.",
        "A new objective starts another run; this one stays readable.",
      ],
      verb: withWorkers ? `Stop ${name} and its agents` : `Stop ${name}`,
      run: () =>
        void act({
          what: `stop ${name}`,
          method: "POST",
          path: `/api/coordinator/${encodeURIComponent(name)}/stop`,
          body: { workers: withWorkers ? "stop" : "leave" },
          done: `${name} is stopped, and its run has ended.`,
        }),
    });
  };
  const end = (): void =>
    void act({
      what: "end the run",
      method: "POST",
      path: `/api/runs/${encodeURIComponent(head.runId)}/complete`,
      done: "The run is asked to end. If a last review is due, it ends with its pass.",
    });
  return { stop, end, whyNot };
}
