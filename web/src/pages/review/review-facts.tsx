import { useWhyNot } from "../../api/actions.ts";
import type { ReviewDetail } from "../../api/types.ts";
import { runGates } from "../../merges/run-gates.ts";
import { count, shortCommit, span } from "../../state/words.ts";
import { Button } from "../../ui/controls.tsx";
import { Glyph } from "../../ui/glyph.tsx";
import { Section } from "../../ui/page.tsx";
import { withTurns } from "../../ui/safe-text.ts";
import { Age } from "../../ui/text.tsx";
import { VerdictMark } from "../../ui/verdict.tsx";
import type { Anchored } from "./drafts.ts";
import css from "./review-page.module.css";

/** What a person should know beside the diff: the task, the agent's own words, the checks, the risk, earlier verdicts. */
export const ReviewFacts = ({
  detail,
  outside,
  children,
}: {
  detail: ReviewDetail;
  /** Changed files outside of the scope of the agent. */
  outside: number;
  children: React.ReactNode;
}) => {
  const whyNot = useWhyNot();
  return (
    <>
      <Section title={`Task ${detail.taskId ?? ""}`}>
        <div className={css.text}>
          <p className={css.strong} dir="auto">
            {withTurns(detail.title ?? "It has no task.")}
          </p>
          {detail.description === null ? null : <p dir="auto">{withTurns(detail.description)}</p>}
        </div>
      </Section>
      <Section title={`Summary by ${detail.name}`}>
        <blockquote className={css.text} dir="auto">
          {withTurns(detail.summary ?? "It said nothing about its work yet.")}
        </blockquote>
      </Section>
      <Section title="Checks" more={<VerdictMark verdict={detail.verdict} />}>
        {detail.gates.length === 0 ? (
          <p className={css.text}>
            No gate ran on this exact commit.{" "}
            <Button whyNot={whyNot} onClick={() => void runGates(detail.name)}>
              Run gates
            </Button>
          </p>
        ) : (
          <ul className={css.gates}>
            {detail.gates.map((gate) => (
              <li key={gate.id} data-tone={gate.status === "passed" ? "good" : "bad"}>
                <Glyph
                  name={gate.status === "passed" ? (gate.flaky ? "gate_flaky" : "gate_passed") : "failed"}
                  tone={gate.status === "passed" ? (gate.flaky ? "attn" : "good") : "bad"}
                />
                <span>
                  {gate.gate} {gate.flaky ? "passed at a second try" : gate.status}
                </span>
                <span className="faint">{span(gate.durationMs)}</span>
              </li>
            ))}
          </ul>
        )}
        {detail.commit === null ? null : (
          <p className={css.on}>
            on commit <code>{shortCommit(detail.commit)}</code>
          </p>
        )}
      </Section>
      <Risk detail={detail} outside={outside} />
      {detail.reviews.length === 0 ? null : (
        <Section title="Earlier reviews">
          {detail.reviews.map((review) => (
            <details key={`${review.by} ${review.at}`} className={css.text}>
              <summary>
                {review.verdict.replaceAll("_", " ")} by {review.by}, <Age at={review.at} form="span" /> ago
                {review.findings.length === 0 ? "" : `, ${count(review.findings.length, "finding")}`}
              </summary>
              <p dir="auto">{withTurns(review.body)}</p>
            </details>
          ))}
        </Section>
      )}
      {children}
    </>
  );
};

function Risk({ detail, outside }: { detail: ReviewDetail; outside: number }) {
  const risks = [
    ...(outside === 0 ? [] : [`${count(outside, "file")} outside its scope`]),
    ...new Set([...detail.doubts, ...detail.gaps]),
  ];
  if (risks.length === 0) return null;
  return (
    <Section title="Risk">
      <ul className={css.risks} data-tone="attn">
        {risks.map((risk) => (
          <li key={risk} dir="auto">
            {withTurns(risk)}
          </li>
        ))}
      </ul>
    </Section>
  );
}

/** What was written and not sent yet. Comments whose line is gone are told from the others. */
export const Notes = ({
  notes,
  summary,
  onSummary,
  onOpen,
  onRemove,
}: {
  notes: readonly Anchored[];
  summary: string;
  onSummary: (text: string) => void;
  onOpen: (note: Anchored) => void;
  onRemove: (id: string) => void;
}) => (
  <Section title={notes.length === 0 ? "Notes" : `Notes, ${count(notes.length, "draft")}`}>
    <div className={css.text}>
      <textarea
        id="review-summary"
        rows={3}
        aria-label="Summary of your review"
        placeholder="Say in a sentence what is to be changed."
        value={summary}
        onChange={(event) => onSummary(event.target.value)}
      />
      <ul>
        {notes.map((note) => (
          <li key={note.draft.id} className={css.tray}>
            <button type="button" onClick={() => onOpen(note)}>
              <code>
                {note.draft.path}:{note.at?.line ?? note.draft.line}
              </code>{" "}
              {note.at === undefined ? <b data-tone="attn">outdated</b> : null} {note.draft.text}
            </button>
            <Button
              look="quiet"
              aria-label={`Delete the comment on ${note.draft.path}`}
              onClick={() => onRemove(note.draft.id)}
            >
              Delete
            </Button>
          </li>
        ))}
      </ul>
    </div>
  </Section>
);
