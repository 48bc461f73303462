import { Link } from "@tanstack/react-router";
import { useResource } from "../live/resource.ts";
import { count, shortCommit } from "../state/words.ts";
import { Button } from "../ui/controls.tsx";
import { FactList, PeekHead } from "../ui/peek.tsx";
import { Shown } from "../ui/states.tsx";
import { Age, Middle } from "../ui/text.tsx";
import { VerdictMark } from "../ui/verdict.tsx";
import { useMergeActions } from "./merge-actions.ts";
import { MergeMark } from "./merge-state.tsx";
import css from "./merges.module.css";

/** An entry of the merge queue in short, beside any page. */
export default function MergePeek({ id }: { id: string }) {
  const query = useResource({ path: "/api/merge/:of", given: { of: id }, refreshedBy: "queue" });
  const actions = useMergeActions();
  return (
    <Shown what={`merge ${id}`} query={query}>
      {({ entry, standing, meantFor, gates }) => {
        const merge = { ...entry, id: entry.id ?? 0, can: standing.can };
        const [latest] = gates.filter(({ on }) => on === "entry" || on === null).slice(-1);
        return (
          <>
            <PeekHead title={`Merge ${entry.id}`}>
              <MergeMark merge={entry} />
              <p>{standing.why}</p>
              <div className={css.actions}>
                <Button keys="a" whyNot={actions.whyNot(merge, "approve")} onClick={() => actions.approve(merge)}>
                  Approve
                </Button>
                <Button keys="x" whyNot={actions.whyNot(merge, "reject")} onClick={() => actions.reject(merge)}>
                  Reject...
                </Button>
                <Link to={`/merge/${entry.id}` as never}>Open merge</Link>
              </div>
            </PeekHead>
            <FactList
              facts={[
                ["Branch", <Middle key="branch" text={entry.branch} tail={20} />],
                ["Commit", <code key="commit">{shortCommit(entry.headCommit)}</code>],
                ["Lands on", entry.targetBranch],
                ["Meant for", meantFor],
                ["Agent", entry.agentName],
                ["Task", entry.taskId],
                ["Sent by", entry.enqueuedBy],
                ["Proof", <VerdictMark key="verdict" verdict={entry.verdict} />],
                ["Gate", latest === undefined ? null : `${latest.gate} ${latest.status.replaceAll("_", " ")}`],
                ["Files", count(entry.filesModified.length, "file")],
                ["Priority", entry.priority],
                ["Waits for", entry.waitsFor.map((other) => `#${other}`).join(", ")],
                ["Attempts", entry.attempts],
                ["Queued", <Age key="age" at={entry.enqueuedAt} form="span" />],
              ]}
            />
          </>
        );
      }}
    </Shown>
  );
}
