import { type ReactNode, useEffect, useMemo, useState } from "react";
import { useWhyNot } from "../../api/actions.ts";
import { ApiError } from "../../api/client.ts";
import { runLong } from "../../api/operations.ts";
import type { Examination, FixReport } from "../../api/types.ts";
import { cache, useResource } from "../../live/resource.ts";
import { useCommands } from "../../state/commands.ts";
import { toast } from "../../state/toasts.ts";
import { useUrl } from "../../state/url.ts";
import { count } from "../../state/words.ts";
import { Button } from "../../ui/controls.tsx";
import { type Column, Grid } from "../../ui/grid.tsx";
import { type Look, LookMark } from "../../ui/look.tsx";
import { NarrowRow } from "../../ui/narrow-row.tsx";
import { PageHead } from "../../ui/page.tsx";
import { Empty, Loading, Shown } from "../../ui/states.tsx";
import { Age, Middle } from "../../ui/text.tsx";
import css from "./health-page.module.css";

type Check = Examination["checks"][number];
const idOf = ({ id }: Check): string => id;
const looks: Readonly<Record<Check["status"], Look>> = {
  fail: { glyph: "zombie", tone: "bad", word: "Failed" },
  warn: { glyph: "stalled", tone: "attn", word: "Warning" },
  pass: { glyph: "completed", tone: "done", word: "Passed" },
};
const order = ["fail", "warn", "pass"] as const;

/** What `ov doctor` finds. Looked at when the page is opened and on demand, never by a timer. */
export function Checks({ views }: { views: ReactNode }) {
  const { search, set, replace } = useUrl();
  const query = useResource({ path: "/api/doctor" });
  const { isFetching, dataUpdatedAt, refetch } = query;
  // What an earlier visit saw is as old as that visit.
  // biome-ignore lint/correctness/useExhaustiveDependencies: once for each opening of the page
  useEffect(() => {
    if (dataUpdatedAt > 0 && !isFetching) void refetch();
  }, []);
  const showsPassed = search.passed === "shown";
  const rows = useMemo(
    () =>
      (query.data?.checks ?? [])
        .filter(({ status }) => showsPassed || status !== "pass")
        .toSorted((a, b) => order.indexOf(a.status) - order.indexOf(b.status)),
    [query.data, showsPassed],
  );
  const chosen = query.data?.checks.find(({ id }) => id === search.check);
  const { summary } = query.data ?? {};
  return (
    <>
      <PageHead
        title="Health"
        action={
          <Button onClick={() => void refetch()} whyNot={isFetching ? "Checking now" : undefined}>
            Check again
          </Button>
        }
      >
        {views}
        {summary === undefined ? null : (
          <span className={css.summary}>
            {summary.pass} passed, {count(summary.warn, "warning")}, {summary.fail} failed
          </span>
        )}
        <span className="faint" role="status">
          {isFetching ? (
            "checking now"
          ) : dataUpdatedAt === 0 ? (
            ""
          ) : (
            <>
              checked <Age at={new Date(dataUpdatedAt).toISOString()} form="span" /> ago
            </>
          )}
        </span>
        {summary === undefined || summary.pass === 0 ? null : (
          <Button
            look="quiet"
            aria-pressed={showsPassed}
            onClick={() => replace({ passed: showsPassed ? undefined : "shown" })}
          >
            {showsPassed ? "Fold" : "Show"} {summary.pass} passed
          </Button>
        )}
      </PageHead>
      <Shown what="the checks" query={query}>
        {() => (
          <>
            <Grid
              label="Checks"
              rows={rows}
              idOf={idOf}
              nameOf={({ id, status }) => `${id}, ${looks[status].word}`}
              columns={columns}
              narrow={(check) => <Line check={check} />}
              toneOf={({ status }) => (status === "pass" ? undefined : looks[status].tone)}
              onOpen={({ id }) => set({ check: id })}
              empty={<Empty why={`Nothing is wrong. ${summary?.pass ?? 0} checks passed.`} command="ov doctor" />}
            />
            {chosen === undefined ? null : (
              <Details key={chosen.id} check={chosen} onClose={() => replace({ check: undefined })} />
            )}
          </>
        )}
      </Shown>
      {query.data === undefined && query.error === null ? (
        <Loading what="the checks, which takes some seconds" />
      ) : null}
    </>
  );
}

const columns: readonly Column<Check>[] = [
  { id: "status", header: "Result", width: "12ch", cell: ({ status }) => <LookMark look={looks[status]} /> },
  {
    id: "id",
    header: "Check",
    width: "minmax(24ch, 1.3fr)",
    cell: ({ name, category }) => <Middle text={`${category}.${name}`} tail={10} />,
  },
  {
    id: "message",
    header: "What it found",
    width: "minmax(24ch, 3fr)",
    cell: ({ message }) => (
      <span className="cut" title={message}>
        {message}
      </span>
    ),
  },
  {
    id: "fix",
    header: "Can be fixed",
    width: "14ch",
    from: 60,
    cell: ({ fixId, healedByEngine }) => (fixId !== null ? "here" : healedByEngine ? "by the engine" : ""),
  },
];

const Line = ({ check }: { check: Check }) => (
  <NarrowRow>
    <code>{check.name}</code>
    <LookMark look={looks[check.status]} />
    <span className="faint">{check.message}</span>
  </NarrowRow>
);

/** Everything about one finding, with its fix: first the plan, then the deed, which proves itself by looking again. */
function Details({ check, onClose }: { check: Check; onClose: () => void }) {
  const whyNot = useWhyNot();
  const [works, setWorks] = useState<"plan" | "fix">();
  const [fix, setFix] = useState<FixReport["fixes"][number]>();
  const ask = async (dryRun: boolean): Promise<void> => {
    setWorks(dryRun ? "plan" : "fix");
    try {
      const report = await runLong<FixReport>("/api/doctor", { only: [check.id], dryRun });
      const found = report.fixes.find(({ id }) => id === check.id);
      setFix(found);
      if (!dryRun) {
        cache.setQueryData(["/api/doctor", {}], report);
        const isDone = found === undefined || found.outcome === "fixed" || found.outcome === "engine";
        toast(
          isDone
            ? `${check.name} is fixed; the check passes now.`
            : `${check.name} is not fixed: ${found.why ?? found.outcome}.`,
          {
            failed: !isDone,
          },
        );
      }
    } catch (error) {
      const words = error instanceof ApiError ? error.message : String(error);
      const hint = error instanceof ApiError && error.hint !== undefined ? ` ${error.hint}` : "";
      toast(`Could not ${dryRun ? "plan the fix of" : "fix"} ${check.name}: ${words}.${hint}`, { failed: true });
    } finally {
      setWorks(undefined);
    }
  };
  const noFix =
    check.fixId === null
      ? check.healedByEngine
        ? "The engine mends it by itself"
        : "There is no fix that a program should make"
      : undefined;
  const reason = whyNot ?? noFix ?? (works === undefined ? undefined : "It is being done now");
  useCommands("Check", [
    { id: "check.preview", label: "Preview the fix", keys: "f", run: () => void ask(true), disabled: reason },
    { id: "check.close", label: "Close the check", keys: "Escape", run: onClose },
  ]);
  return (
    <section className={css.details} aria-label={`Check ${check.name}`}>
      <header>
        <h2>
          <code>{check.name}</code> {check.message}
        </h2>
        <Button look="quiet" onClick={onClose}>
          Close
        </Button>
      </header>
      <dl>
        {check.details.length === 0 ? null : <Fact name="Found">{check.details.join("\n")}</Fact>}
        {check.affects === null ? null : <Fact name="Affects">{check.affects}</Fact>}
        {check.fix === null ? null : <Fact name="The fix">{check.fix}</Fact>}
        {check.next === null ? null : (
          <Fact name="Or type">
            <code>{check.next}</code>
          </Fact>
        )}
        {fix === undefined ? null : (
          <Fact name={fix.outcome === "planned" ? "Plan" : "Result"}>
            {[fix.outcome === "planned" ? fix.does : fix.outcome, ...fix.actions, fix.why ?? ""]
              .filter(Boolean)
              .join("\n")}
          </Fact>
        )}
      </dl>
      <div className={css.buttons}>
        <Button keys="f" whyNot={reason} onClick={() => void ask(true)}>
          {works === "plan" ? "Planning" : "Preview fix"}
        </Button>
        <Button look="primary" whyNot={reason} onClick={() => void ask(false)}>
          {works === "fix" ? "Fixing" : "Fix"}
        </Button>
      </div>
    </section>
  );
}

const Fact = ({ name, children }: { name: string; children: ReactNode }) => (
  <div>
    <dt>{name}</dt>
    <dd>{children}</dd>
  </div>
);
