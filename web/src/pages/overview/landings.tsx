import { Link } from "@tanstack/react-router";
import type { Landing } from "../../api/run-summary.ts";
import { useMergeActions } from "../../merges/merge-actions.ts";
import { clockTime, shortCommit } from "../../state/words.ts";
import { Button } from "../../ui/controls.tsx";
import { Section } from "../../ui/page.tsx";
import { Empty } from "../../ui/states.tsx";
import { Middle } from "../../ui/text.tsx";
import { VerdictMark } from "../../ui/verdict.tsx";
import css from "./overview-page.module.css";

/** The newest landings, each with the way back. */
export function Landings({ landings }: { landings: readonly Landing[] }) {
  return (
    <Section
      title="Last landings"
      more={
        <Link to="/merge" search={{ view: "history" } as never}>
          All in Merge
        </Link>
      }
    >
      {landings.length === 0 ? (
        <Empty why="Nothing has landed yet. Branches land when their gates have passed." />
      ) : null}
      <ul className={css.landings}>
        {landings.map((landing) => (
          <Line key={landing.op} landing={landing} />
        ))}
      </ul>
    </Section>
  );
}

function Line({ landing }: { landing: Landing }) {
  const { undo, offline } = useMergeActions();
  const { name } = landing;
  const undoLanding = (): void => void undo(landing.op, `the landing of ${name}`);
  return (
    <li>
      <time dateTime={landing.at}>{clockTime(landing.at)}</time>
      <span className={css.what} title={landing.branches.join(", ")}>
        <Middle text={name} />
      </span>
      <code>{shortCommit(landing.commit)}</code>
      {landing.isTakenBack ? (
        <span className={css.reverted}>taken back</span>
      ) : (
        <VerdictMark verdict={landing.verdict} />
      )}
      {landing.isTakenBack ? (
        <span />
      ) : (
        <Button look="quiet" whyNot={offline} onClick={undoLanding} aria-label={`Undo the landing of ${name}`}>
          Undo...
        </Button>
      )}
    </li>
  );
}
