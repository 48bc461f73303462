import { Link } from "@tanstack/react-router";
import { useMemo, useState } from "react";
import { useAct, useWhyNot } from "../../api/actions.ts";
import type { Budget } from "../../api/types.ts";
import { cache, useResource } from "../../live/resource.ts";
import { useUrl } from "../../state/url.ts";
import { amount, count, money } from "../../state/words.ts";
import { Button } from "../../ui/controls.tsx";
import { type Column, Grid } from "../../ui/grid.tsx";
import { NarrowRow } from "../../ui/narrow-row.tsx";
import { Empty, Shown } from "../../ui/states.tsx";
import { Middle } from "../../ui/text.tsx";
import css from "./costs-page.module.css";

const idOf = ({ scope, subject, unit }: Budget): string => `${scope}:${unit}:${subject}`;
const nameOf = ({ scope, subject, unit }: Budget): string => `${unit} of ${scope} ${subject}`;
const toneOf = ({ percent }: Budget) =>
  percent === null ? undefined : percent >= 100 ? ("budget" as const) : percent >= 80 ? ("attn" as const) : undefined;

/** Limits with what was spent of them. Enter on one raises it. */
export function Budgets() {
  const { search, replace } = useUrl();
  const query = useResource({ path: "/api/budgets", refreshedBy: "costs" });
  const limited = useMemo(
    () => (query.data?.items ?? []).filter(({ limit }) => limit !== null).toSorted(mostFirst),
    [query.data],
  );
  const raised = limited.find((budget) => idOf(budget) === search.raise);
  return (
    <Shown what="the budgets" query={query}>
      {() => (
        <>
          <Grid
            label="Budgets"
            rows={limited}
            idOf={idOf}
            nameOf={nameOf}
            columns={columns}
            narrow={(budget) => <Line budget={budget} />}
            toneOf={toneOf}
            onOpen={(budget) => replace({ raise: idOf(budget) })}
            empty={
              <Empty
                why="No limit is set. A limit for each agent, task, run or day keeps new turns from starting when it is reached."
                action={
                  <Link to="/settings/$section" params={{ section: "budgets" } as never}>
                    Set limits in Settings
                  </Link>
                }
                command="ov config set budgets.run.usd 40"
              />
            }
          />
          {raised === undefined ? null : (
            <Raise key={idOf(raised)} budget={raised} onClose={() => replace({ raise: undefined })} />
          )}
        </>
      )}
    </Shown>
  );
}

const mostFirst = (a: Budget, b: Budget): number => (b.percent ?? 0) - (a.percent ?? 0) || (idOf(a) < idOf(b) ? -1 : 1);

/** An amount in its unit. */
const inUnit = (unit: Budget["unit"], value: number | null): string => {
  if (value === null) return "no limit";
  if (unit === "usd") return money(value);
  return unit === "tokens" ? `${amount(value)} tokens` : `${value} ${unit}`;
};

const spentOf = (budget: Budget): string => (budget.reported ? inUnit(budget.unit, budget.spent) : "not reported");

const columns: readonly Column<Budget>[] = [
  { id: "scope", header: "Scope", width: "10ch", cell: ({ scope }) => scope },
  {
    id: "subject",
    header: "Of",
    width: "minmax(14ch, 1fr)",
    cell: ({ subject }) => <Middle text={subject} tail={6} />,
  },
  { id: "spent", header: "Spent", width: "15ch", align: "end", cell: spentOf },
  {
    id: "limit",
    header: "Limit",
    width: "15ch",
    align: "end",
    cell: ({ unit, limit }) => inUnit(unit, limit),
  },
  {
    id: "percent",
    header: "Used",
    width: "18ch",
    cell: (budget) => (
      <span className={css.used} data-tone={toneOf(budget) ?? "idle"}>
        <meter min={0} max={100} value={Math.min(100, budget.percent ?? 0)} aria-hidden />
        {budget.reported ? `${Math.round(budget.percent ?? 0)} %` : ""}
      </span>
    ),
  },
  {
    id: "parked",
    header: "Parked for it",
    width: "minmax(12ch, 1fr)",
    from: 60,
    cell: ({ parked }) => parked.join(", "),
  },
];

const Line = ({ budget }: { budget: Budget }) => (
  <NarrowRow>
    <span>{nameOf(budget)}</span>
    <span className="figure">{Math.round(budget.percent ?? 0)} %</span>
    <span className="faint">
      {spentOf(budget)} of {inUnit(budget.unit, budget.limit)}
    </span>
    <span className="faint">
      {budget.parked.length === 0 ? "" : count(budget.parked.length, "agent parked", "agents parked")}
    </span>
  </NarrowRow>
);

/** Raises a limit in place, and says before what follows from it. */
function Raise({ budget, onClose }: { budget: Budget; onClose: () => void }) {
  const act = useAct();
  const offline = useWhyNot();
  const [text, setText] = useState(() =>
    String(budget.unit === "usd" ? Math.ceil(budget.limit ?? 1) : (budget.limit ?? 1)),
  );
  const by = Number(text);
  const isWrong =
    text.trim() === "" || !(by > 0) || ((budget.unit === "turns" || budget.unit === "tokens") && !Number.isInteger(by));
  const limit = (budget.limit ?? 0) + (isWrong ? 0 : by);
  const { scope, subject, unit, parked } = budget;
  const raise = async (): Promise<void> => {
    const done = await act({
      what: `raise the limit of ${scope} ${subject}`,
      method: "POST",
      path: "/api/budgets/raise",
      body: { scope, subject, unit, amount: by },
      done: `The limit of ${scope} ${subject} is ${inUnit(unit, limit)} now.`,
    });
    if (!done) return;
    void cache.invalidateQueries({ queryKey: ["/api/budgets"] });
    onClose();
  };
  const whyNot = offline ?? (isWrong ? "The amount must be a number above 0" : undefined);
  return (
    <form
      className={css.raise}
      onSubmit={(event) => {
        event.preventDefault();
        if (whyNot === undefined) void raise();
      }}
      onKeyDown={(event) => event.key === "Escape" && onClose()}
    >
      <label>
        Raise {unit === "usd" ? "dollars" : unit} of {scope} <code>{subject}</code> by{" "}
        <input
          // biome-ignore lint/a11y/noAutofocus: the form was just opened for this field
          autoFocus
          inputMode="decimal"
          value={text}
          aria-invalid={isWrong || undefined}
          onChange={(event) => setText(event.target.value)}
        />
      </label>
      <span className={css.effect}>
        {isWrong
          ? "The amount must be a number above 0."
          : `Limit ${inUnit(unit, budget.limit)} becomes ${inUnit(unit, limit)}; ${inUnit(unit, Math.max(0, limit - budget.spent))} are left. ${
              parked.length === 0 ? "No agent is parked for it." : `${parked.join(", ")} may go on.`
            }`}
      </span>
      <Button look="primary" type="submit" whyNot={whyNot}>
        Raise limit
      </Button>
      <Button look="quiet" onClick={onClose}>
        Cancel
      </Button>
    </form>
  );
}
