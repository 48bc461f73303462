import { Link, useParams } from "@tanstack/react-router";
import { MoreHorizontal } from "lucide-react";
import { lazy, Suspense } from "react";
import type { MergeDetail } from "../../api/types.ts";
import { useResource } from "../../live/resource.ts";
import { useMergeActions } from "../../merges/merge-actions.ts";
import { MergeMark } from "../../merges/merge-state.tsx";
import { useCommands } from "../../state/commands.ts";
import { useUrl } from "../../state/url.ts";
import { count, shortCommit } from "../../state/words.ts";
import { Button, Choice } from "../../ui/controls.tsx";
import { Menu } from "../../ui/overlays.tsx";
import { Loading, Shown } from "../../ui/states.tsx";
import { Age, Facts, Middle } from "../../ui/text.tsx";
import { VerdictMark } from "../../ui/verdict.tsx";
import { EntryAttempts } from "./entry-attempts.tsx";
import { EntryConflicts } from "./entry-conflicts.tsx";
import { EntryGates } from "./entry-gates.tsx";
import css from "./entry-page.module.css";

const EntryDiff = lazy(() => import("./entry-diff.tsx"));

const tabs = [
  { value: "conflicts", label: "Conflicts" },
  { value: "gates", label: "Gates" },
  { value: "diff", label: "Diff" },
  { value: "attempts", label: "Attempts" },
] as const;
type Tab = (typeof tabs)[number]["value"];

/** One branch on its way in: how it stands, what can be done, and the evidence in tabs. */
export default function EntryPage() {
  const { id = "" } = useParams({ strict: false }) as { id?: string };
  const query = useResource({ path: "/api/merge/:of", given: { of: id }, refreshedBy: "queue" });
  return (
    <Shown what={`merge ${id}`} query={query}>
      {(detail) => <Entry key={detail.entry.id} detail={detail} />}
    </Shown>
  );
}

/** What a person most likely came for. */
const firstTab = ({ entry }: MergeDetail): Tab => (entry.status === "conflict" ? "conflicts" : "gates");

function Entry({ detail }: { detail: MergeDetail }) {
  const { search, replace } = useUrl();
  const tab = tabs.find(({ value }) => value === search.tab)?.value ?? firstTab(detail);
  const show = (value: Tab): void =>
    replace({ tab: value, file: undefined, hunk: undefined, gate: undefined, ln: undefined });
  const { entry } = detail;
  const counts: Readonly<Record<Tab, string>> = {
    conflicts: entry.cause === "conflict" ? ` ${entry.causeDetail?.files?.length ?? ""}` : "",
    gates: detail.gates.length === 0 ? "" : ` ${detail.gates.length}`,
    diff: entry.filesModified.length === 0 ? "" : ` ${entry.filesModified.length}`,
    attempts: detail.attempts.length === 0 ? "" : ` ${detail.attempts.length}`,
  };
  useCommands(
    "Merge",
    tabs.map(({ value, label }, at) => ({
      id: `merge.tab.${value}`,
      label: `${label} of merge ${entry.id}`,
      keys: String(at + 1),
      run: () => show(value),
    })),
  );
  return (
    <>
      <Head detail={detail} />
      <Actions detail={detail} />
      <div className={css.tabs}>
        <Choice
          label="Part"
          value={tab}
          options={tabs.map(({ value, label }, at) => ({
            value,
            label: `${label}${counts[value]}`,
            keys: String(at + 1),
          }))}
          onChoose={show}
        />
      </div>
      {tab === "conflicts" ? <EntryConflicts detail={detail} /> : null}
      {tab === "gates" ? <EntryGates detail={detail} /> : null}
      {tab === "diff" ? (
        <Suspense fallback={<Loading what={`the changes of ${entry.branch}`} />}>
          <EntryDiff detail={detail} />
        </Suspense>
      ) : null}
      {tab === "attempts" ? <EntryAttempts detail={detail} /> : null}
    </>
  );
}

const Head = ({ detail: { entry, standing, meantFor } }: { detail: MergeDetail }) => (
  <header className={css.head}>
    <div className={css.first}>
      <Link to="/merge" title="Back to the queue">
        Merge
      </Link>
      <h1>#{entry.id}</h1>
      <MergeMark merge={entry} />
      <span className={css.branch}>
        <Middle text={entry.branch} tail={24} />
      </span>
      <code>{shortCommit(entry.headCommit)}</code>
      <VerdictMark verdict={entry.verdict} />
    </div>
    <p className={css.why} data-tone={standing.isStuck ? "attn" : undefined}>
      {standing.why}
    </p>
    <p className={css.facts}>
      <Facts
        facts={[
          `into ${entry.targetBranch}${meantFor === null ? "" : `, then ${meantFor}`}`,
          entry.agentName === null ? `sent by ${entry.enqueuedBy}` : null,
          entry.taskId === null ? null : `task ${entry.taskId}`,
          `priority ${entry.priority}`,
          count(entry.filesModified.length, "file"),
          entry.waitsFor.length === 0 ? null : `after ${entry.waitsFor.map((id) => `#${id}`).join(", ")}`,
        ]}
      />
      {entry.agentName === null ? null : (
        <>
          {" · by "}
          <Link to={`/agents/${entry.agentName}` as never}>{entry.agentName}</Link>
        </>
      )}
      {" · queued "}
      <Age at={entry.enqueuedAt} form="span" /> ago
    </p>
  </header>
);

/** What can be done with it. The act that it waits for is the primary one. */
function Actions({ detail: { entry, standing } }: { detail: MergeDetail }) {
  const actions = useMergeActions();
  const merge = { ...entry, id: entry.id ?? 0, can: standing.can };
  const { whyNot } = actions;
  useCommands("Merge actions", [
    {
      id: "merge.approve",
      label: `Approve merge ${merge.id}`,
      keys: "a",
      run: () => actions.approve(merge),
      disabled: whyNot(merge, "approve"),
    },
    {
      id: "merge.reject",
      label: `Reject merge ${merge.id}`,
      keys: "x",
      run: () => actions.reject(merge),
      disabled: whyNot(merge, "reject"),
    },
    {
      id: "merge.undo",
      label: `Undo merge ${merge.id}`,
      keys: "u",
      run: () => actions.undoEntry(merge),
      disabled: whyNot(merge, "undo"),
    },
  ]);
  const first = (["approve", "retry", "resume", "undo"] as const).find((each) => standing.can.includes(each));
  const buttons = {
    approve: { label: "Approve", keys: "a", run: actions.approve },
    retry: { label: "Try again", keys: undefined, run: actions.retry },
    resume: { label: "Look again now", keys: undefined, run: actions.resume },
    undo: { label: "Undo...", keys: "u", run: actions.undoEntry },
  } as const;
  return (
    <div className={css.actions}>
      {standing.can.includes("reject") ? (
        <Button keys="x" whyNot={actions.offline} onClick={() => actions.reject(merge)}>
          Reject...
        </Button>
      ) : null}
      {standing.can.includes("cancel") ? (
        <Button whyNot={actions.offline} onClick={() => actions.cancel(merge)}>
          Cancel...
        </Button>
      ) : null}
      {first === undefined ? null : (
        <Button
          // The same commit would meet the same conflict: what settles it stands below.
          look={first === "undo" || entry.status === "conflict" ? "plain" : "primary"}
          keys={buttons[first].keys}
          whyNot={actions.offline}
          onClick={() => buttons[first].run(merge)}
        >
          {buttons[first].label}
        </Button>
      )}
      <Menu label={`More for merge ${merge.id}`} items={actions.itemsFor(merge)}>
        <button type="button" className={css.more} aria-label={`More for merge ${merge.id}`}>
          <MoreHorizontal aria-hidden />
        </button>
      </Menu>
    </div>
  );
}
