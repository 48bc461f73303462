import { useState } from "react";
import { useAct, useWhyNot } from "../../api/actions.ts";
import type { Head, RunPlan } from "../../api/types.ts";
import { useResource } from "../../live/resource.ts";
import { useDraft } from "../../state/drafts.ts";
import { useGo } from "../../state/url.ts";
import { money } from "../../state/words.ts";
import { Button } from "../../ui/controls.tsx";
import { TextArea, TextField } from "../../ui/fields.tsx";
import { PageHead, Section } from "../../ui/page.tsx";
import { FactList } from "../../ui/peek.tsx";
import { Shown } from "../../ui/states.tsx";
import css from "./coordinator-page.module.css";

const starters = [
  "Make the slowest tests at least twice as fast, without testing less",
  "Find what the README promises and the code does not do, and close the gaps",
  "Bring the dependencies up to date, one task for each risky one",
];

/** No coordinator runs: the objective of the next run, and under what terms it would work. */
export function StartRun({ last }: { last: Head | undefined }) {
  const act = useAct();
  const go = useGo();
  const offline = useWhyNot();
  const objective = useDraft("objective");
  const [budget, setBudget] = useState("");
  const plan = useResource({ path: "/api/coordinator/plan", isFresh: true });
  const usd = budget.trim() === "" ? undefined : Number(budget);
  const isNoBudget = usd !== undefined && !(usd > 0);
  const whyNot =
    offline ??
    (objective.text.trim() === ""
      ? "It has no objective yet"
      : isNoBudget
        ? "The budget must be a number above 0"
        : undefined);
  const start = async (): Promise<void> => {
    const started = await act({
      what: "start the coordinator",
      method: "POST",
      path: "/api/coordinator",
      body: { objective: objective.text.trim(), ...(usd === undefined ? {} : { budgetUsd: usd }) },
      done: "The coordinator starts.",
    });
    if (!started) return;
    objective.clear();
    go("/coordinator");
  };
  return (
    <div className={css.start}>
      {last === undefined ? <PageHead title="Coordinator" /> : null}
      <div className={css.startBody}>
        <p>
          {last === undefined
            ? "No coordinator has run in this project yet. Give it an objective; it splits the work and starts the agents."
            : `${last.name} has ended. Its last run: ${last.objective ?? last.runId}. A new objective starts another run.`}
        </p>
        <TextArea label="Objective" value={objective.text} onChange={objective.setText} rows={4} />
        <p className={css.note}>For example:</p>
        <ul className={css.starters} aria-label="Starter objectives">
          {starters.map((starter) => (
            <li key={starter}>
              <Button look="quiet" onClick={() => objective.setText(starter)}>
                {starter}
              </Button>
            </li>
          ))}
        </ul>
        <TextField label="Budget in dollars" value={budget} onChange={setBudget} hint="As configured when empty" />
        <div>
          <Button look="primary" whyNot={whyNot} onClick={() => void start()}>
            Start coordinator
          </Button>
        </div>
        <div className={css.terms}>
          <Section title="Terms of the run">
            <Shown what="the terms" query={plan}>
              {(terms) => <Terms plan={terms} />}
            </Shown>
          </Section>
        </div>
        <p className={css.note}>
          Its agents get the variables of the engine, not those of a shell. The same from a terminal:{" "}
          <code>ov go "objective"</code>
        </p>
      </div>
    </div>
  );
}

const Terms = ({ plan }: { plan: RunPlan }) => (
  <FactList
    facts={[
      [
        "Runtime",
        [plan.runtime, ...plan.otherRuntimes.map(({ capability, runtime }) => `${capability}: ${runtime}`)].join(", "),
      ],
      ["Agents", `${plan.maxConcurrent} turns at once, ${plan.maxAgents === 0 ? "any number" : plan.maxAgents} in all`],
      ["Budget", plan.budgetUsd === 0 ? "no limit" : `${money(plan.budgetUsd)} for each run`],
      ["Gates", plan.gates.length === 0 ? noGates(plan) : plan.gates.join("; ")],
      [
        "Landing",
        plan.gathers
          ? `${plan.target} is checked out, so work gathers on a branch of its own until you promote it`
          : `on ${plan.target}`,
      ],
      ["Advice", plan.advice.join(" ")],
    ]}
  />
);

const noGates = ({ unverified }: RunPlan): string =>
  unverified === "land"
    ? "none: branches land although nothing checks them"
    : "none: nothing can check the work, so each landing waits for you";
