import { Link } from "@tanstack/react-router";
import type { Train } from "../../api/types.ts";
import { gateLook } from "../../merges/merge-look.ts";
import { useNow } from "../../state/clock.ts";
import { shortCommit, stopwatch } from "../../state/words.ts";
import { Glyph } from "../../ui/glyph.tsx";
import { Age, Middle } from "../../ui/text.tsx";
import css from "./merge-page.module.css";

/** What each look of the gates is for. */
const purposes: Readonly<Record<string, string>> = {
  train: "all of them together",
  flaky: "what failed, once more",
  baseline: "what failed, without the train",
  bisect: "a half, to find the branch that breaks it",
};

/** Branches that are merged one onto the other, and what the gates say of them now. */
export function TrainStrip({ train }: { train: Train }) {
  const check = train.checks.at(-1);
  const more = train.mostRuns - 1;
  return (
    <section className={css.train} aria-label={`Train onto ${train.target}`}>
      <div className={css.way}>
        <h2>Train</h2>
        <span className={css.base}>
          <span className="mono">
            <Middle text={train.target} tail={18} />
          </span>{" "}
          <code>{shortCommit(train.baseCommit)}</code>
        </span>
        {train.members.map(({ id, branch, agentName }) => (
          <Link key={id} className={css.member} to={`/merge/${id}` as never} title={branch}>
            <Glyph name="merged" tone="live" />
            <span className="figure">#{id}</span> <Middle text={agentName ?? branch} />
          </Link>
        ))}
        <span className={css.since}>
          <Age at={train.startedAt} form="stopwatch" />
        </span>
      </div>
      <div className={css.gates}>
        {check === undefined ? (
          <span>is put together</span>
        ) : (
          <span>Gates look at {purposes[check.purpose] ?? check.purpose}:</span>
        )}
        {check?.gates.map((gate) => (
          <TrainGate key={gate.gate} gate={gate} of={train.members[0]?.id ?? 0} />
        ))}
        <span className={css.faint}>
          If it fails: looked at again, then halves are tried; at most {more} more {more === 1 ? "run" : "runs"}.
        </span>
      </div>
    </section>
  );
}

type Gate = Train["checks"][number]["gates"][number];

function TrainGate({ gate: { gate, status, log, startedAt, durationMs, expectedMs }, of }: { gate: Gate; of: number }) {
  const now = useNow();
  const look = gateLook(status);
  const elapsed = status === "running" && startedAt !== null ? now - Date.parse(startedAt) : durationMs;
  const percent =
    status !== "running" || expectedMs === null || expectedMs <= 0 || elapsed === null
      ? null
      : Math.min(99, Math.max(0, Math.round((elapsed / expectedMs) * 100)));
  const words = [
    look.word,
    percent === null ? "" : `about ${percent} %`,
    elapsed === null ? "" : stopwatch(elapsed),
  ].filter((part) => part !== "");
  return (
    <span className={css.gate} data-tone={look.tone}>
      <Glyph name={look.glyph} tone={look.tone} />
      <b>{gate}</b> <span className={css.gateWords}>{words.join(" ")}</span>
      {log === null ? null : (
        <Link to={`/merge/${of}` as never} search={{ tab: "gates", gate: log } as never}>
          Log
        </Link>
      )}
    </span>
  );
}
