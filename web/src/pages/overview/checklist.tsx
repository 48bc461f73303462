import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { useAct, useWhyNot } from "../../api/actions.ts";
import type { Criterion, Overview } from "../../api/types.ts";
import { shortCommit } from "../../state/words.ts";
import { Button } from "../../ui/controls.tsx";
import { Glyph, type GlyphName, type Tone } from "../../ui/glyph.tsx";
import { confirm } from "../../ui/overlays.tsx";
import { Section } from "../../ui/page.tsx";
import { Age } from "../../ui/text.tsx";
import css from "./overview-page.module.css";

/** What the run must achieve, sentence by sentence, each with its evidence. */
export function Checklist({ overview }: { overview: Overview }) {
  const { criteria } = overview;
  const [all, setAll] = useState(false);
  if (criteria.length === 0) return null;
  const proved = criteria.filter(({ proof, waived }) => isHeld(proof) || waived !== null).length;
  const shown = all ? criteria : criteria.slice(0, 8);
  return (
    <Section title="Checklist of the run" more={`${proved} of ${criteria.length} proved`}>
      <ol className={css.checklist}>
        {shown.map((criterion) => (
          <Line key={criterion.number} criterion={criterion} run={overview.currentRunId} />
        ))}
      </ol>
      {criteria.length > shown.length ? (
        <Button look="quiet" onClick={() => setAll(true)}>
          Show {criteria.length - shown.length} more
        </Button>
      ) : null}
    </Section>
  );
}

type Proof = Criterion["proof"];
const isHeld = (proof: Proof): boolean => proof !== null && proof.lost === null;

function look({ proof, waived }: Criterion): { readonly glyph: GlyphName; readonly tone: Tone; readonly word: string } {
  if (waived !== null) return { glyph: "cancelled", tone: "idle", word: "waived" };
  if (proof === null) return { glyph: "pending", tone: "idle", word: "open" };
  return isHeld(proof)
    ? { glyph: "completed", tone: "good", word: "proved" }
    : { glyph: "stalled", tone: "attn", word: "proof lost" };
}

function Line({ criterion, run }: { criterion: Criterion; run: string | null }) {
  const { number, text, proof, waived, tasks } = criterion;
  const { glyph, tone, word } = look(criterion);
  return (
    <li>
      <Glyph name={glyph} tone={tone} word={word} />
      <span className={css.number}>{number}</span>
      <div>
        <p>{text}</p>
        <p className={css.evidence} data-tone={tone}>
          {waived !== null ? `Waived by ${waived.by}: ${waived.reason}` : <Evidence proof={proof} tasks={tasks} />}
        </p>
      </div>
      {run === null ? null : <Waive criterion={criterion} run={run} />}
    </li>
  );
}

/** The operator decides that a criterion need not be met, and takes that back. */
function Waive({ criterion, run }: { criterion: Criterion; run: string }) {
  const act = useAct();
  const whyNot = useWhyNot();
  const { number, text, waived, tasks, proof } = criterion;
  const path = (verb: string): string => `/api/runs/${encodeURIComponent(run)}/criteria/${number}/${verb}`;
  if (waived !== null) {
    const takeBack = (): void =>
      void act({
        what: `take the waiver of criterion ${number} back`,
        method: "POST",
        path: path("unwaive"),
        done: `Criterion ${number} has to be met again.`,
      });
    return (
      <Button
        look="quiet"
        whyNot={whyNot}
        onClick={takeBack}
        aria-label={`Take the waiver of criterion ${number} back`}
      >
        Take back
      </Button>
    );
  }
  if (isHeld(proof)) return <span />;
  const waive = (): void =>
    confirm({
      title: `Waive criterion ${number}?`,
      effects: [
        text,
        "The run may end without it. The coordinator is told, with your reason.",
        tasks.length === 0
          ? "No task serves it."
          : `Tasks that serve it stay open until they are dropped: ${tasks.join(", ")}.`,
        "It can be taken back while the run is active.",
      ],
      words: { label: "Why it need not be met" },
      verb: `Waive criterion ${number}`,
      run: (reason) =>
        void act({
          what: `waive criterion ${number}`,
          method: "POST",
          path: path("waive"),
          body: { reason },
          done: `Criterion ${number} is waived.`,
        }),
    });
  return (
    <Button look="quiet" whyNot={whyNot} onClick={waive} aria-label={`Waive criterion ${number}`}>
      Waive...
    </Button>
  );
}

function Evidence({ proof, tasks }: { proof: Proof; tasks: Criterion["tasks"] }) {
  if (proof === null) {
    const ids = tasks.map((task) => (typeof task === "string" ? task : String((task as { id?: unknown }).id ?? "")));
    return ids.length === 0 ? (
      "No task serves it yet."
    ) : (
      <>
        {"Open; served by "}
        {ids.map((id) => (
          <Link key={id} to="/tasks" search={{ task: id } as never}>
            {id}{" "}
          </Link>
        ))}
      </>
    );
  }
  const what = (
    <>
      {proof.kind} <code>{proof.test ?? proof.path ?? shortCommit(proof.commit)}</code>
    </>
  );
  if (proof.lost !== null)
    return (
      <span className={css.lost}>
        Proof lost: {what} {String(proof.lost)}
      </span>
    );
  return (
    <>
      {what} at <code>{shortCommit(proof.checkedCommit ?? proof.commit)}</code>, by {proof.by}{" "}
      <Age at={proof.at} form="span" /> ago
    </>
  );
}
